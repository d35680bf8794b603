#include "engine/data/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace dtj::data {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> fail_errno(int error, const std::string& path) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::not_found : ErrorCode::unavailable;
  return fail(code, fmt::format("cannot read `{}`: {}", path, std::strerror(error)));
}

std::string_view kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "pipe";
  if (S_ISSOCK(mode)) return "socket";
  return "device";
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // A pipe without a writer would make a blocking open wait for ever.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail_errno(errno, path);
  MappedFile file;
  file.path_ = path;
  struct stat info {};
  void* data = MAP_FAILED;
  int error = 0;
  if (::fstat(fd, &info) != 0) {
    error = errno;
  } else if (S_ISDIR(info.st_mode)) {
    error = EISDIR;
  } else if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("cannot read `{}`: it is a {}, and data is read from regular files", path, kind_of(info.st_mode)));
  } else {
    file.size_ = static_cast<std::size_t>(info.st_size);
    if (file.size_ != 0) {
      data = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (data == MAP_FAILED) error = errno;
    }
  }
  ::close(fd);
  if (error != 0) {
    file.size_ = 0;
    return fail_errno(error, path);
  }
  if (data != MAP_FAILED) file.data_ = static_cast<const std::byte*>(data);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

Result<std::vector<std::string>> list_files(const std::string& folder, const std::string& pattern) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::not_a_directory) {
    return fail(ErrorCode::invalid_argument, fmt::format("`{}` is not a folder", folder));
  }
  if (error) return fail_errno(error.value(), folder);
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file(ignored) && ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0)
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::set<std::pair<dev_t, ino_t>> seen;
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    std::string path = (fs::path(folder) / name).string();
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return fail_errno(errno, path);
    if (seen.emplace(info.st_dev, info.st_ino).second) paths.push_back(std::move(path));
  }
  if (paths.empty()) {
    return fail(ErrorCode::not_found, fmt::format("no regular file matches `{}` in folder `{}`", pattern, folder));
  }
  return paths;
}

}  // namespace dtj::data
