#include "engine/device/host/convert.hpp"

#include <bit>

namespace dtj::device {

void bf16_to_f32(const std::uint16_t* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16);
}

void f32_to_bf16(const float* from, std::uint16_t* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(from[i]);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    to[i] = static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x0040u : rounded);
  }
}

}  // namespace dtj::device
