#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/dtype.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;

TEST_CASE("dtype: names round-trip", "[unit][base]") {
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    const auto dtype = static_cast<DType>(i);
    CHECK(parse_dtype(to_string(dtype)) == dtype);
  }
  CHECK(parse_dtype("f33") == std::nullopt);
  CHECK(size_of(DType::boolean) == 1);
  CHECK(size_of(DType::bf16) == 2);
  CHECK(size_of(DType::f64) == 8);
}

TEST_CASE("dtype: floats and integers are told apart", "[unit][base]") {
  CHECK(is_float(DType::bf16));
  CHECK_FALSE(is_float(DType::i32));
  CHECK(is_integer(DType::u16));
  CHECK_FALSE(is_integer(DType::boolean));
}

TEST_CASE("bf16: every finite pattern survives f32 and back", "[unit][base]") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float value = bf16_to_f32(pattern);
    if (std::isnan(value)) {
      CHECK(std::isnan(bf16_to_f32(f32_to_bf16(value))));
    } else if (f32_to_bf16(value) != pattern) {
      FAIL("pattern " << bits);
    }
  }
}

TEST_CASE("bf16: rounds to nearest, ties to even", "[unit][base]") {
  CHECK(f32_to_bf16(1.0f) == 0x3f80);
  CHECK(f32_to_bf16(1.0f + 0x1p-8f) == 0x3f80);            // tie, even below
  CHECK(f32_to_bf16(1.0f + 0x1p-7f + 0x1p-8f) == 0x3f82);  // tie, even above
  CHECK(f32_to_bf16(1.0f + 0x1p-8f + 0x1p-20f) == 0x3f81);
  CHECK(f32_to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
  // A NaN whose payload lies in the dropped bits stays a NaN.
  float nan = 0;
  const std::uint32_t bits = 0x7f800001u;
  std::memcpy(&nan, &bits, sizeof(nan));
  CHECK(std::isnan(bf16_to_f32(f32_to_bf16(nan))));
}

TEST_CASE("f16: every pattern survives f32 and back", "[unit][base]") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float value = f16_to_f32(pattern);
    if (std::isnan(value)) {
      CHECK(std::isnan(f16_to_f32(f32_to_f16(value))));
    } else if (f32_to_f16(value) != pattern) {
      FAIL("pattern " << bits);
    }
  }
}

TEST_CASE("f16: rounds to nearest, ties to even, also in subnormals", "[unit][base]") {
  CHECK(f32_to_f16(65504.0f) == 0x7bff);
  CHECK(f32_to_f16(65519.0f) == 0x7bff);
  CHECK(f32_to_f16(65520.0f) == 0x7c00);
  CHECK(f32_to_f16(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(f32_to_f16(1.0f + 3 * 0x1p-11f) == 0x3c02);
  CHECK(f32_to_f16(0x1p-25f) == 0x0000);
  CHECK(f32_to_f16(0x1p-25f + 0x1p-40f) == 0x0001);
  CHECK(f32_to_f16(-0x1p-24f) == 0x8001);
  CHECK(f32_to_f16(0x1.fffp-15f) == 0x0400);
}
