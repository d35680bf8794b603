#include "engine/checkpoint/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "engine/checkpoint/file.hpp"
#include "engine/checkpoint/folder.hpp"

namespace dtj::checkpoint {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

/// "process 123 on host"; what the owner wrote, which is for people only.
std::string read_owner(int fd) {
  std::array<char, 300> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size() - 1, 0);
  const std::string owner(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return owner.empty() ? "another process" : owner.substr(0, owner.find('\n'));
}

Status write_owner(int fd) {
  const std::string owner = fmt::format("process {} on {}\n", ::getpid(), host_name());
  const bool is_written = ::ftruncate(fd, 0) == 0 && ::pwrite(fd, owner.data(), owner.size(), 0) == ssize_t(owner.size());
  return is_written ? Status() : tl::unexpected(system_error(errno, "write", "the lock of the folder"));
}

}  // namespace

Result<FolderLock> FolderLock::acquire(const std::string& dir, std::chrono::milliseconds patience) {
  const std::string path = join(dir, ".lock");
  FolderLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.fd_ < 0) return tl::unexpected(system_error(errno, "open", path));
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return tl::unexpected(system_error(errno, "lock", path));
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorCode::unavailable, fmt::format("another run writes checkpoints to `{}` ({}): wait for it, or take another folder",
                                                      dir, read_owner(lock.fd_)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  DTJ_TRY(write_owner(lock.fd_));
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace dtj::checkpoint
