#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/base/philox.hpp"
#include "engine/device/device.hpp"
#include "engine/run/executor_builtins.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using run::BuiltinCall;

namespace {

std::unique_ptr<device::Device> host(int threads) {
  auto made = device::make_host_device({threads, {}});
  REQUIRE(made);
  return std::move(*made);
}

template <class T>
const std::byte* bytes(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}
template <class T>
std::byte* bytes(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

}  // namespace

TEST_CASE("gather_rows: copies the named rows", "[unit][run]") {
  const auto device = host(2);
  for (const std::int64_t columns : {0, 1, 5, 700}) {
    std::vector<float> table(static_cast<std::size_t>(6 * columns));
    std::iota(table.begin(), table.end(), 0.0f);
    const std::vector<std::int32_t> index{5, 0, 3, 3};
    std::vector<float> out(static_cast<std::size_t>(4 * columns), -1);
    BuiltinCall call{plan::BuiltinOp::gather_rows,
                     DType::f32,
                     DType::f32,
                     bytes(table),
                     index.data(),
                     bytes(out),
                     4,
                     6,
                     columns,
                     {}};
    REQUIRE(run::run_builtin(call, *device));
    for (std::int64_t row = 0; row < 4; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        REQUIRE(out[static_cast<std::size_t>(row * columns + column)] ==
                static_cast<float>(index[static_cast<std::size_t>(row)] * columns + column));
      }
    }
  }
}

TEST_CASE("gather_rows, scatter_add_rows: an index out of range names value and row", "[unit][run]") {
  const auto device = host(2);
  std::vector<float> table(12), rows(8);
  for (const std::int32_t wrong :
       {-1, 3, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
    const std::vector<std::int32_t> index{2, wrong};
    BuiltinCall gather{
        plan::BuiltinOp::gather_rows, DType::f32, DType::f32, bytes(table), index.data(), bytes(rows), 2, 3, 4, {}};
    BuiltinCall scatter{plan::BuiltinOp::scatter_add_rows,
                        DType::f32,
                        DType::f32,
                        bytes(rows),
                        index.data(),
                        bytes(table),
                        2,
                        3,
                        4,
                        {}};
    for (BuiltinCall* call : {&gather, &scatter}) {
      const auto status = run::run_builtin(*call, *device);
      REQUIRE_FALSE(status);
      CHECK(status.error().code == ErrorCode::invalid_argument);
      CHECK(status.error().message == "index " + std::to_string(wrong) + " in row 1 is outside [0, 3)");
    }
  }
}

TEST_CASE("scatter_add_rows: adds in order, for any number of threads", "[unit][run]") {
  constexpr std::int64_t num = 500, rows = 7, columns = 333;
  const PhiloxStream random(1, 2);
  std::vector<std::int32_t> index(num);
  std::vector<float> grad(num * columns);
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int32_t>(random.bits(i) % rows);
  for (std::size_t i = 0; i < grad.size(); ++i) grad[i] = random.normal(i);
  std::vector<std::uint16_t> narrow(grad.size());
  for (std::size_t i = 0; i < grad.size(); ++i) narrow[i] = f32_to_bf16(grad[i]);

  for (const DType in : {DType::f32, DType::bf16}) {
    std::vector<float> expected(rows * columns, 0);
    for (std::int64_t i = 0; i < num; ++i) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto at = static_cast<std::size_t>(i * columns + c);
        expected[static_cast<std::size_t>(index[static_cast<std::size_t>(i)] * columns + c)] +=
            in == DType::f32 ? grad[at] : bf16_to_f32(narrow[at]);
      }
    }
    for (const int threads : {1, 3}) {
      const auto device = host(threads);
      std::vector<float> out(expected.size(), 99);
      const std::byte* data = in == DType::f32 ? bytes(std::as_const(grad)) : bytes(std::as_const(narrow));
      BuiltinCall wide{
          plan::BuiltinOp::scatter_add_rows, in, DType::f32, data, index.data(), bytes(out), num, rows, columns, {}};
      REQUIRE(run::run_builtin(wide, *device));
      CHECK(out == expected);

      std::vector<std::uint16_t> rounded(expected.size(), 99);
      BuiltinCall slim{
          plan::BuiltinOp::scatter_add_rows,  in, DType::bf16, data, index.data(), bytes(rounded), num, rows, columns,
          std::vector<float>(expected.size())};
      REQUIRE(run::run_builtin(slim, *device));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < rounded.size(); ++i) wrong += rounded[i] != f32_to_bf16(expected[i]);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("scatter_add_rows: no indices give zeros", "[unit][run]") {
  const auto device = host(1);
  std::vector<float> out(6, 5), grad;
  BuiltinCall call{
      plan::BuiltinOp::scatter_add_rows, DType::f32, DType::f32, bytes(grad), nullptr, bytes(out), 0, 3, 2, {}};
  REQUIRE(run::run_builtin(call, *device));
  CHECK(out == std::vector<float>(6, 0));
}

TEST_CASE("argmax_last: the first of equal values", "[unit][run]") {
  const auto device = host(2);
  const std::vector<float> x{1, 3, 3, -5, -4, -4, 7, 7, 7};
  std::vector<std::uint16_t> narrow;
  for (const float value : x) narrow.push_back(f32_to_bf16(value));
  for (const DType dtype : {DType::f32, DType::bf16}) {
    std::vector<std::int32_t> out(3, -1);
    const std::byte* data = dtype == DType::f32 ? bytes(x) : bytes(std::as_const(narrow));
    BuiltinCall call{plan::BuiltinOp::argmax_last, dtype, DType::i32, data, nullptr, bytes(out), 0, 3, 3, {}};
    REQUIRE(run::run_builtin(call, *device));
    CHECK(out == std::vector<std::int32_t>{1, 1, 0});
  }
}
