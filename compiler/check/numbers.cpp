#include "compiler/check/numbers.hpp"

#include <cmath>

#include <fmt/format.h>

#include "compiler/check/units.hpp"

namespace dtj::check {

namespace {

using ast::BinaryOp;

Value fail(Interpreter& in, diag::Kind kind, source::Range range, std::string message) {
  in.report(kind, range, std::move(message));
  return {};
}

Value overflow(Interpreter& in, source::Range range) {
  return fail(in, diag::Kind::bad_value, range, "the integer does not fit 64 bits");
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return (a - floor_mod(a, b)) / b;
}

template <class T>
std::optional<bool> compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::gt:
      return a > b;
    case BinaryOp::ge:
      return a >= b;
    case BinaryOp::pow:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::floor_div:
    case BinaryOp::mod:
    case BinaryOp::matmul:
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::range:
    case BinaryOp::divides:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      return std::nullopt;
  }
  return std::nullopt;
}

Value integer_power(Interpreter& in, std::int64_t base, std::int64_t exponent, source::Range range) {
  if (exponent < 0) return {std::pow(static_cast<double>(base), static_cast<double>(exponent)), range};
  if (base == 0 || base == 1) return {exponent == 0 ? std::int64_t{1} : base, range};
  if (base == -1) return {std::int64_t{exponent % 2 == 0 ? 1 : -1}, range};
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return overflow(in, range);
  }
  return {result, range};
}

Value inexact(Interpreter& in, std::int64_t a, std::int64_t b, const Value& lhs, source::Range range) {
  const std::string written = in.text_of(lhs.range);
  const std::string fraction = written == std::to_string(a) ? written + ".0" : fmt::format("({} as f64)", written);
  in.report(diag::Kind::inexact_division, range, fmt::format("{} / {} is not exact", a, b))
      .note("`/` on integers must leave no remainder")
      .help(fmt::format("`div` rounds down, to {}; for a fraction write `{} / ...`", floor_div(a, b), fraction));
  return {};
}

Value known_integers(Interpreter& in, BinaryOp op, std::int64_t a, std::int64_t b, const Value& lhs, const Value& rhs,
                     source::Range range) {
  if (auto truth = compare(op, a, b)) return {*truth, range};
  std::int64_t result = 0;
  const bool divides_by_zero = b == 0 && (op == BinaryOp::div || op == BinaryOp::floor_div || op == BinaryOp::mod);
  if (divides_by_zero || (op == BinaryOp::divides && a == 0)) {
    return fail(in, diag::Kind::bad_value, b == 0 && op != BinaryOp::divides ? rhs.range : lhs.range,
                "division by zero");
  }
  if (b == -1 && a == INT64_MIN) return overflow(in, range);
  switch (op) {
    case BinaryOp::add:
      return __builtin_add_overflow(a, b, &result) ? overflow(in, range) : Value{result, range};
    case BinaryOp::sub:
      return __builtin_sub_overflow(a, b, &result) ? overflow(in, range) : Value{result, range};
    case BinaryOp::mul:
      return __builtin_mul_overflow(a, b, &result) ? overflow(in, range) : Value{result, range};
    case BinaryOp::div:
      return a % b == 0 ? Value{a / b, range} : inexact(in, a, b, lhs, range);
    case BinaryOp::floor_div:
      return {floor_div(a, b), range};
    case BinaryOp::mod:
      return {floor_mod(a, b), range};
    case BinaryOp::pow:
      return integer_power(in, a, b, range);
    case BinaryOp::divides:
      return {floor_mod(b, a) == 0, range};
    case BinaryOp::matmul:
    case BinaryOp::range:
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  return fail(in, diag::Kind::wrong_type, range, fmt::format("`{}` does not take integers", ast::to_string(op)));
}

Value symbolic_quotient(Interpreter& in, BinaryOp op, const Dim& a, const Dim& b, source::Range range, bool must_be_proved) {
  const Value unknown{Unbound{}, range};
  if (b.is(0)) return unknown;
  if (auto exact = Dim::divide(a, b)) return make_int(op == BinaryOp::mod ? Dim(0) : *exact, range);
  if (op == BinaryOp::div && !must_be_proved) return unknown;
  if (op == BinaryOp::div) {
    // After a report as if it were exact, so that one cause gives one error.
    if (!in.is_assumed_to_divide(b, a)) in.report_unproved(a, b, range);
    return make_int(Dim::quotient(a, b), range);
  }
  return make_int(Dim::opaque(fmt::format("({} {} {})", a.to_string(), ast::to_string(op), b.to_string())), range);
}

}  // namespace

Value integer_binary(Interpreter& in, BinaryOp op, const Value& lhs, const Value& rhs, source::Range range,
                     bool must_be_proved) {
  const Dim a = *as_dim(lhs);
  const Dim b = *as_dim(rhs);
  if (a.number() && b.number()) return known_integers(in, op, *a.number(), *b.number(), lhs, rhs, range);
  const Value unknown{Unbound{}, range};
  switch (op) {
    case BinaryOp::add:
      return make_int(a + b, range);
    case BinaryOp::sub:
      return make_int(a - b, range);
    case BinaryOp::mul:
      return make_int(a * b, range);
    case BinaryOp::div:
    case BinaryOp::floor_div:
    case BinaryOp::mod:
      return symbolic_quotient(in, op, a, b, range, must_be_proved);
    case BinaryOp::divides:
      return !a.is(0) && Dim::divide(b, a) ? Value{true, range} : unknown;
    case BinaryOp::pow:
      return b.is(2) ? make_int(a * a, range) : unknown;
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      if (auto difference = (a - b).number()) return {*compare(op, *difference, std::int64_t{0}), range};
      return unknown;
    case BinaryOp::matmul:
    case BinaryOp::range:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  return fail(in, diag::Kind::wrong_type, range, fmt::format("`{}` does not take integers", ast::to_string(op)));
}

Value real_binary(Interpreter& in, BinaryOp op, const Value& lhs, const Value& rhs, source::Range range) {
  const auto left = as_number(lhs);
  const auto right = as_number(rhs);
  if (!left || !right) return {Unbound{}, range};
  if (auto truth = compare(op, *left, *right)) return {*truth, range};
  switch (op) {
    case BinaryOp::add:
      return {*left + *right, range};
    case BinaryOp::sub:
      return {*left - *right, range};
    case BinaryOp::mul:
      return {*left * *right, range};
    case BinaryOp::pow:
      return {std::pow(*left, *right), range};
    case BinaryOp::div:
    case BinaryOp::floor_div:
    case BinaryOp::mod:
      if (*right == 0) return fail(in, diag::Kind::bad_value, rhs.range, "division by zero");
      if (op == BinaryOp::div) return {*left / *right, range};
      if (op == BinaryOp::floor_div) return {std::floor(*left / *right), range};
      return {*left - *right * std::floor(*left / *right), range};
    case BinaryOp::matmul:
    case BinaryOp::range:
    case BinaryOp::divides:
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  return fail(in, diag::Kind::wrong_type, range,
              fmt::format("`{}` takes integers, found {} and {}", ast::to_string(op), show(lhs), show(rhs)));
}

Value quantity_binary(Interpreter& in, BinaryOp op, const Value& lhs, const Value& rhs, source::Range range) {
  const auto* left = lhs.as<Quantity>();
  const auto* right = rhs.as<Quantity>();
  if (left && right) {
    if (left->kind != right->kind) {
      in.report(diag::Kind::wrong_unit, rhs.range,
                fmt::format("`{}` needs two quantities of one kind, found {} and {}", ast::to_string(op),
                            describe(left->kind), describe(right->kind)))
          .under(describe(right->kind))
          .label(lhs.range, describe(left->kind));
      return {};
    }
    if (auto truth = compare(op, left->amount, right->amount)) return {*truth, range};
    if (op == BinaryOp::add) return {Quantity{left->amount + right->amount, left->kind}, range};
    if (op == BinaryOp::sub) return {Quantity{left->amount - right->amount, left->kind}, range};
    if (op == BinaryOp::div) {
      if (right->amount == 0) return fail(in, diag::Kind::bad_value, rhs.range, "division by zero");
      return {left->amount / right->amount, range};
    }
    return fail(in, diag::Kind::wrong_unit, range,
                fmt::format("`{}` does not take two quantities", ast::to_string(op)));
  }
  const Quantity quantity = left ? *left : *right;
  const Value& other = left ? rhs : lhs;
  if (other.as<Dim>()) return {Unbound{}, range};
  const auto number = as_number(other);
  if (number && op == BinaryOp::mul) return {Quantity{quantity.amount * *number, quantity.kind}, range};
  if (number && left && op == BinaryOp::div) {
    if (*number == 0) return fail(in, diag::Kind::bad_value, rhs.range, "division by zero");
    return {Quantity{quantity.amount / *number, quantity.kind}, range};
  }
  const bool is_bare = number && op != BinaryOp::div && op != BinaryOp::pow;
  auto& diagnostic =
      in.report(is_bare ? diag::Kind::wrong_unit : diag::Kind::wrong_type, other.range,
                fmt::format("`{}` does not take {} and {}", ast::to_string(op), describe(lhs), describe(rhs)));
  if (is_bare) diagnostic.help(fmt::format("give the number a unit, as in `{}`", spell(quantity)));
  return {};
}

}  // namespace dtj::check
