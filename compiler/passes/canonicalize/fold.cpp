#include <cmath>
#include <limits>

#include "compiler/passes/canonicalize/simplify.hpp"

namespace dtj::passes {
namespace {

using ir::Op;

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return a < b ? b : a;
}

double sign(double x) {
  return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0));
}

std::optional<double> divide(DType dtype, double a, double b) {
  if (is_float(dtype)) return a / b;
  if (b == 0) return std::nullopt;
  return std::trunc(a / b);
}

std::optional<double> cast(DType to, double x) {
  if (to == DType::boolean) return x != 0 ? 1 : 0;
  return is_integer(to) ? std::trunc(x) : x;
}

std::optional<double> evaluate(Op op, const std::vector<double>& x, DType operand, DType result) {
  switch (op) {
    case Op::neg:
      return -x[0];
    case Op::exp:
      return std::exp(x[0]);
    case Op::log:
      return std::log(x[0]);
    case Op::sqrt:
      return std::sqrt(x[0]);
    case Op::rsqrt:
      return 1.0 / std::sqrt(x[0]);
    case Op::tanh:
      return std::tanh(x[0]);
    case Op::erf:
      return std::erf(x[0]);
    case Op::sin:
      return std::sin(x[0]);
    case Op::cos:
      return std::cos(x[0]);
    case Op::abs:
      return std::fabs(x[0]);
    case Op::floor:
      return std::floor(x[0]);
    case Op::sign:
      return sign(x[0]);
    case Op::logical_not:
      return x[0] == 0;
    case Op::cast:
      return cast(result, x[0]);
    case Op::add:
      return x[0] + x[1];
    case Op::sub:
      return x[0] - x[1];
    case Op::mul:
      return x[0] * x[1];
    case Op::div:
      return divide(operand, x[0], x[1]);
    case Op::pow:
      return std::pow(x[0], x[1]);
    case Op::maximum:
      return maximum(x[0], x[1]);
    case Op::minimum:
      return -maximum(-x[0], -x[1]);
    case Op::eq:
      return x[0] == x[1];
    case Op::ne:
      return x[0] != x[1];
    case Op::lt:
      return x[0] < x[1];
    case Op::le:
      return x[0] <= x[1];
    case Op::gt:
      return x[0] > x[1];
    case Op::ge:
      return x[0] >= x[1];
    case Op::logical_and:
      return x[0] != 0 && x[1] != 0;
    case Op::logical_or:
      return x[0] != 0 || x[1] != 0;
    case Op::select:
      return x[0] != 0 ? x[1] : x[2];
    case Op::stop_gradient:  // keeps its meaning for autodiff
    case Op::constant:
    case Op::iota:
    case Op::random:
    case Op::reduce_sum:
    case Op::reduce_max:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::slice:
    case Op::pad:
    case Op::concat:
    case Op::windows:
    case Op::fold:
    case Op::matmul:
    case Op::gather_rows:
    case Op::scatter_add_rows:
    case Op::argmax_last:
    case Op::all_reduce:
    case Op::fused:
      return std::nullopt;
  }
  return std::nullopt;
}

template <class T>
std::optional<double> inside(double value) {
  // The upper limit of i64 is not a double: the comparison is strict there.
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double limit = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2.0;
  if (!(value >= low && value < limit) || std::fabs(value) > 9007199254740992.0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<float>(value);
    case DType::f64:
      return value;
    case DType::bf16:
      return bf16_to_f32(f32_to_bf16(static_cast<float>(value)));
    case DType::f16:
      return f16_to_f32(f32_to_f16(static_cast<float>(value)));
    case DType::i32:
      return inside<std::int32_t>(value);
    case DType::i64:
      return inside<std::int64_t>(value);
    case DType::u8:
      return inside<std::uint8_t>(value);
    case DType::u16:
      return inside<std::uint16_t>(value);
    case DType::boolean:
      return value != 0 ? 1 : 0;
  }
  return std::nullopt;
}

std::optional<double> fold(Op op, const std::vector<double>& x, DType operand, DType result) {
  const std::optional<double> exact = evaluate(op, x, operand, result);
  return exact ? round_to(result, *exact) : std::nullopt;
}

}  // namespace dtj::passes
