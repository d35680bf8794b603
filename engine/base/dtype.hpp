#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dtj {

enum class DType : std::uint8_t { f32, f64, bf16, f16, i32, i64, u8, u16, boolean };

/// Bytes of one element; `boolean` takes one byte.
std::size_t size_of(DType dtype);
/// "f32", "bf16", ..., "bool"
std::string_view to_string(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);
bool is_float(DType dtype);
bool is_integer(DType dtype);

/// Round to nearest even; NaN stays NaN.
std::uint16_t f32_to_bf16(float value);
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);
float f16_to_f32(std::uint16_t bits);

}  // namespace dtj
