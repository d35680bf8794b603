#include "engine/base/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace dtj {

std::uint64_t hash64(const void* data, std::size_t size, std::uint64_t seed) {
  // xxh3 reads its pointer even for an empty input on some paths.
  static const char nothing = 0;
  return XXH3_64bits_withSeed(size == 0 ? &nothing : data, size, seed);
}

std::string to_hex(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

}  // namespace dtj
