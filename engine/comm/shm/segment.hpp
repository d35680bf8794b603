#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/result.hpp"
#include "engine/base/units.hpp"

namespace dtj::comm::shm {

/// A part of a shared file, mapped into this process.
class Mapping {
 public:
  Mapping(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_;
  std::size_t size_;
};

/// An open POSIX shared memory object. Closing the last descriptor and mapping frees the memory once the name is gone,
/// also after SIGKILL.
class Segment {
 public:
  /// Errors: unavailable (exists already, or no shared memory here).
  static Result<Segment> create(const std::string& name);
  /// Errors: not_found (not created yet), unavailable.
  static Result<Segment> open(const std::string& name);
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  std::int64_t size() const;
  /// Makes the object at least this large; the memory is taken as it is touched. Errors: out_of_memory.
  Status extend(std::int64_t size) const;
  /// Takes the memory of a range now, so that a full /dev/shm is an error here and not SIGBUS later.
  /// Errors: out_of_memory.
  Status reserve(std::int64_t offset, std::int64_t size) const;
  /// Errors: out_of_memory.
  Result<std::unique_ptr<Mapping>> map(std::int64_t offset, std::int64_t size) const;

 private:
  explicit Segment(int fd) : fd_(fd) {}
  int fd_;
};

/// Removes the name; no error when it is gone already.
void unlink_segment(const std::string& name);

}  // namespace dtj::comm::shm
