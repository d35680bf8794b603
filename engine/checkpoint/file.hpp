#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.hpp"

namespace dtj::checkpoint {

/// A file descriptor. Move-only.
class File {
 public:
  /// Must not exist yet. Errors: unavailable, out_of_memory.
  static Result<File> create(const std::string& path);
  /// Errors: not_found, unavailable.
  static Result<File> open(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// All bytes or an error: unavailable, out_of_memory (no space left).
  Status write(const void* data, std::size_t size);
  /// To the disk, then closed.
  Status sync_and_close();
  /// Errors: data_loss (the file ends before), unavailable.
  Status read_at(std::int64_t offset, void* data, std::size_t size) const;
  Result<std::int64_t> size() const;

 private:
  File() = default;

  int fd_ = -1;
  std::string path_;
};

/// The error of a failed system call: not_found (ENOENT, ENOTDIR), out_of_memory (no space, quota), else unavailable.
/// "cannot <what> `path`: reason"
Error system_error(int error_number, std::string_view what, const std::string& path);

/// A whole small file. Errors: not_found, unavailable, data_loss (over 1 GiB).
Result<std::string> read_text(const std::string& path);
/// Writes and syncs a new file.
Status write_text(const std::string& path, std::string_view text);
/// Makes the names of a folder durable.
Status sync_folder(const std::string& path);

}  // namespace dtj::checkpoint
