#include "engine/comm/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace dtj::comm::shm {

Mapping::~Mapping() {
  ::munmap(data_, size_);
}

Result<Segment> Segment::create(const std::string& name) {
  const int fd = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) return Segment(fd);
  return fail(ErrorCode::unavailable, fmt::format("cannot create shared memory `{}`: {}", name, std::strerror(errno)));
}

Result<Segment> Segment::open(const std::string& name) {
  const int fd = ::shm_open(name.c_str(), O_RDWR, 0600);
  if (fd >= 0) return Segment(fd);
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
  return fail(code, fmt::format("cannot open shared memory `{}`: {}", name, std::strerror(errno)));
}

Segment::Segment(Segment&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Segment::~Segment() {
  if (fd_ >= 0) ::close(fd_);
}

std::int64_t Segment::size() const {
  struct stat info {};
  return ::fstat(fd_, &info) == 0 ? static_cast<std::int64_t>(info.st_size) : 0;
}

Status Segment::extend(std::int64_t size) const {
  if (size <= this->size() || ::ftruncate(fd_, size) == 0) return {};
  return fail(ErrorCode::out_of_memory,
              fmt::format("cannot extend shared memory to {}: {}", to_string(Bytes{size}), std::strerror(errno)));
}

Status Segment::reserve(std::int64_t offset, std::int64_t size) const {
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(fd_, offset, size);
  if (error == 0) return {};
  return fail(ErrorCode::out_of_memory, fmt::format("cannot take {} of shared memory (/dev/shm): {}",
                                                    to_string(Bytes{size}), std::strerror(error)));
}

Result<std::unique_ptr<Mapping>> Segment::map(std::int64_t offset, std::int64_t size) const {
  void* data = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::out_of_memory,
                fmt::format("cannot map {} of shared memory: {}", to_string(Bytes{size}), std::strerror(errno)));
  }
  return std::make_unique<Mapping>(static_cast<std::byte*>(data), static_cast<std::size_t>(size));
}

void unlink_segment(const std::string& name) {
  ::shm_unlink(name.c_str());
}

}  // namespace dtj::comm::shm
