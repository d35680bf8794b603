#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/dtype.hpp"
#include "engine/comm/group/control.hpp"

namespace dtj::comm::group {

/// The data of one operation as one participant sees it. Moves bytes only; when it may is decided by the caller.
/// P = number of participants, n = elements of the current chunk.
struct Transfer {
  Op op = Op::barrier;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  std::size_t root = 0;             ///< participant
  std::size_t me = 0;               ///< participant
  const std::byte* send = nullptr;  ///< what this rank gives; for in-place operations equal to `recv`
  std::byte* recv = nullptr;

  bool is_staged = false;
  /// Per participant: its data, or its staging memory. Staging holds [n], or [P, n] for reduce_scatter and all_to_all.
  std::vector<std::byte*> peers;
  std::int64_t chunk_elements = 0;
  std::int64_t chunk = 0;

  /// Splits the operation for staging memory of this size.
  void set_chunks(std::int64_t staging_bytes);
  std::int64_t num_chunks() const;

  /// Own data -> own staging.
  void load_staging() const;
  /// Peers' data or staging -> result.
  void work();
  /// Own staging -> own data.
  void unload_staging() const;

 private:
  std::int64_t begin() const { return chunk * chunk_elements; }
  std::int64_t size() const;
  void all_reduce();
  void reduce_scatter();
  void all_gather() const;
  void all_to_all() const;
  /// One participant's data to the others.
  void spread(std::size_t from) const;
  std::int64_t bytes(std::int64_t elements) const { return elements * static_cast<std::int64_t>(size_of(dtype)); }

  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> outs_;
};

}  // namespace dtj::comm::group
