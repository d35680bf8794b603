#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace dtjc {

namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

/// Writes all bytes and waits until they are on the disk. 0, or errno.
int write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errno != 0 ? errno : EIO;
    done += static_cast<std::size_t>(written);
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::string read_stdin() {
  return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
}

std::optional<std::string> replace_file(const std::string& path, const std::string& text) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) return error.message();
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0) return reason(errno);
  std::string temporary = target.string() + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return reason(errno);
  int failure = write_all(file, text);
  if (failure == 0 && ::fchmod(file, status.st_mode & 07777u) != 0) failure = errno;
  // The owner stays where we may set it; root may edit the file of another.
  if (failure == 0 && ::fchown(file, status.st_uid, status.st_gid) != 0 && errno != EPERM) failure = errno;
  if (::close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) failure = errno;
  if (failure == 0) return std::nullopt;
  ::unlink(temporary.c_str());
  return reason(failure);
}

}  // namespace dtjc
