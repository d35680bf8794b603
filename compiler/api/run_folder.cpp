#include "compiler/api/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace dtj::api {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "dtj-run-";

std::string lock_path(const std::string& folder) { return folder + "/.lock"; }

/// The lock on a folder, or -1: it is in use, not ours, or not yet finished.
int try_lock(const std::string& folder, int flags) {
  const int fd = ::open(lock_path(folder).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (fd < 0) return -1;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

bool is_own_folder(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

/// A lock that nobody holds: the launcher died without a chance to remove its folder.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entries(parent, error), end; !error && entries != end; entries.increment(error)) {
    const std::string path = entries->path().string();
    if (!entries->path().filename().string().starts_with(prefix) || !is_own_folder(path)) continue;
    const int lock = try_lock(path, 0);
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(path, ignored);
    ::close(lock);
  }
}

}  // namespace

Result<RunFolder> RunFolder::make(const std::string& wanted) {
  std::error_code error;
  if (!wanted.empty()) {
    fs::create_directories(wanted, error);
    if (error) return fail(ErrorCode::unavailable, fmt::format("cannot create the folder {}: {}", wanted, error.message()));
    return RunFolder(wanted, -1);
  }
  const fs::path found = fs::temp_directory_path(error);
  const fs::path parent = error ? fs::path("/tmp") : found;
  remove_abandoned(parent);
  std::string path = (parent / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr)
    return fail(ErrorCode::unavailable, fmt::format("cannot create the folder {}: {}", path, std::strerror(errno)));
  const int lock = try_lock(path, O_CREAT);
  if (lock >= 0) return RunFolder(std::move(path), lock);
  const std::string reason = std::strerror(errno);
  fs::remove_all(path, error);
  return fail(ErrorCode::unavailable, fmt::format("cannot write to the folder {}: {}", path, reason));
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

RunFolder::~RunFolder() {
  if (lock_ < 0) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace dtj::api
