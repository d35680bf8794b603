#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/device/device.hpp"
#include "engine/device/host_memory.hpp"

namespace dtj::device {

Memory::Memory(std::byte* data, std::size_t size, std::function<void(std::byte*, std::size_t)> release)
    : data_(data), size_(size), release_(std::move(release)) {}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      release_(std::exchange(other.release_, nullptr)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  // The temporary takes this object's memory along and releases it.
  Memory taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(release_, taken.release_);
  return *this;
}

Memory::~Memory() {
  if (data_ != nullptr && release_) release_(data_, size_);
}

Result<Memory> allocate_host_memory(Bytes size) {
  // A mapping is page-aligned and zeroed by the kernel as it is touched; an empty range still gets a valid address.
  constexpr std::int64_t huge_page = 2 << 20;
  const auto length = static_cast<std::size_t>(std::max<std::int64_t>(size.count, 1));
  void* data =
      size.count < 0 ? MAP_FAILED : ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::out_of_memory, fmt::format("cannot allocate {} of host memory", to_string(size)));
  }
  if (size.count >= huge_page) ::madvise(data, length, MADV_HUGEPAGE);
  return Memory(static_cast<std::byte*>(data), static_cast<std::size_t>(size.count),
                [length](std::byte* start, std::size_t) { ::munmap(start, length); });
}

}  // namespace dtj::device
