#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.hpp"
#include "engine/base/units.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::device {

/// Owned memory, 64-byte aligned and zeroed. Move-only.
class Memory {
 public:
  Memory() = default;
  Memory(std::byte* data, std::size_t size, std::function<void(std::byte*, std::size_t)> release);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::function<void(std::byte*, std::size_t)> release_;
};

/// What executes the compute steps of a plan. One per rank. Not thread-safe: one caller.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  /// Errors: out_of_memory.
  virtual Result<Memory> allocate(Bytes size) = 0;
  /// Runs `body(begin, end)` over [0, work_items) on all worker threads; returns when all are done.
  /// Does not allocate.
  virtual void parallel_for(std::int64_t work_items, std::int64_t grain,
                            const std::function<void(std::int64_t, std::int64_t)>& body) = 0;
  /// The matrix product of plan::GemmStep on raw operands.
  /// Errors: unimplemented (dtype combination).
  virtual Status gemm(const plan::GemmStep& step, DType a_dtype, DType c_dtype, const void* a, const void* b,
                      void* c) = 0;
  virtual int num_threads() const = 0;
};

struct HostDeviceOptions {
  int num_threads = 1;
  /// Cores to pin the workers to, in order; empty = not pinned.
  std::vector<int> cores;
};

/// Worker threads on this machine's CPU; the calling thread is worker 0.
Result<std::unique_ptr<Device>> make_host_device(const HostDeviceOptions& options);
/// Accepts every call and computes nothing: for plan and memory checks.
std::unique_ptr<Device> make_null_device();

}  // namespace dtj::device
