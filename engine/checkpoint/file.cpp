#include "engine/checkpoint/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dtj::checkpoint {

Error system_error(int error_number, std::string_view what, const std::string& path) {
  ErrorCode code = ErrorCode::unavailable;
  if (error_number == ENOENT || error_number == ENOTDIR) code = ErrorCode::not_found;
  if (error_number == ENOSPC || error_number == EDQUOT) code = ErrorCode::out_of_memory;
  return Error{code, fmt::format("cannot {} `{}`: {}", what, path, std::strerror(error_number)), {}};
}

Result<File> File::create(const std::string& path) {
  File file;
  file.path_ = path;
  file.fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.fd_ < 0) return tl::unexpected(system_error(errno, "create", path));
  return file;
}

Result<File> File::open(const std::string& path) {
  File file;
  file.path_ = path;
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fd_ < 0) return tl::unexpected(system_error(errno, "open", path));
  return file;
}

File::File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

Status File::write(const void* data, std::size_t size) {
  const auto* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd_, from, std::min<std::size_t>(size, 1 << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(system_error(errno, "write", path_));
    from += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

Status File::sync_and_close() {
  if (::fsync(fd_) != 0) return tl::unexpected(system_error(errno, "sync", path_));
  // Some file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) return tl::unexpected(system_error(errno, "close", path_));
  return {};
}

Status File::read_at(std::int64_t offset, void* data, std::size_t size) const {
  auto* to = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::pread(fd_, to, std::min<std::size_t>(size, 1 << 30), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(errno, "read", path_));
    if (got == 0)
      return fail(ErrorCode::data_loss, fmt::format("`{}` ends at byte {}, {} bytes too early", path_, offset, size));
    to += got;
    offset += got;
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<std::int64_t> File::size() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return tl::unexpected(system_error(errno, "read", path_));
  return static_cast<std::int64_t>(info.st_size);
}

Result<std::string> read_text(const std::string& path) {
  DTJ_TRY_ASSIGN(const File file, File::open(path));
  DTJ_TRY_ASSIGN(const std::int64_t size, file.size());
  if (size > std::int64_t{1} << 30)
    return fail(ErrorCode::data_loss, fmt::format("`{}` is too large: {} bytes", path, size));
  std::string text(static_cast<std::size_t>(size), '\0');
  DTJ_TRY(file.read_at(0, text.data(), text.size()));
  return text;
}

Status write_text(const std::string& path, std::string_view text) {
  DTJ_TRY_ASSIGN(File file, File::create(path));
  DTJ_TRY(file.write(text.data(), text.size()));
  return file.sync_and_close();
}

Status sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(system_error(errno, "open", path));
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some network file systems cannot sync a folder and need not.
  if (result != 0 && error != EINVAL) return tl::unexpected(system_error(error, "sync", path));
  return {};
}

}  // namespace dtj::checkpoint
