#pragma once

#include <chrono>
#include <string>

#include "engine/base/result.hpp"

namespace dtj::checkpoint {

/// The right to write into a checkpoint folder: one process at a time, until the object or the process ends. Move-only.
/// Holds among processes of one host, and of several where the file system passes flock on.
class FolderLock {
 public:
  /// Waits for an owner that is just leaving, at most `patience`.
  /// Errors: unavailable (another run writes there; says which process), as File for the rest.
  static Result<FolderLock> acquire(const std::string& dir, std::chrono::milliseconds patience);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace dtj::checkpoint
