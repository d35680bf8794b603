#pragma once

#include <cstdint>

namespace dtj::device {

/// Whole rows at once, so that the compiler can vectorise. Rounding as f32_to_bf16 of base/dtype.hpp.
void bf16_to_f32(const std::uint16_t* from, float* to, std::int64_t count);
void f32_to_bf16(const float* from, std::uint16_t* to, std::int64_t count);

}  // namespace dtj::device
