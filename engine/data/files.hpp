#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/result.hpp"

namespace dtj::data {

/// A file mapped read-only. Move-only.
class MappedFile {
 public:
  /// Errors: not_found, unavailable, both with the path.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile() = default;

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string path_;
};

/// Paths of the regular files of a folder whose name matches the shell pattern, sorted by name. Links to regular files
/// are followed; a file that is reached twice is listed once, under its first name.
/// Errors: not_found (no such folder, nothing matches), invalid_argument (not a folder).
Result<std::vector<std::string>> list_files(const std::string& folder, const std::string& pattern);

bool is_folder(const std::string& path);

}  // namespace dtj::data
