#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dtj {

/// xxh3, 64 bits.
std::uint64_t hash64(const void* data, std::size_t size, std::uint64_t seed = 0);
inline std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0) {
  return hash64(text.data(), text.size(), seed);
}
/// 16 lower-case hexadecimal digits.
std::string to_hex(std::uint64_t hash);

}  // namespace dtj
