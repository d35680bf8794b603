#include "compiler/passes/canonicalize/simplify.hpp"

namespace dtj::passes {
namespace {

using ir::Op;
using ir::ValueId;

std::optional<ValueId> fold_constants(const Site& site) {
  std::vector<double> numbers;
  for (const ValueId operand : site.operands) {
    const std::optional<double> number = site.splat(operand);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  const auto result = fold(site.op, numbers, site.operand_type(0).dtype, site.type.dtype);
  if (!result) return std::nullopt;
  return site.build.constant(site.type, *result);
}

/// op(op(x)) = x
std::optional<ValueId> undo_twice(const Site& site) {
  if (const ir::Node* inner = site.producer(site.operand(0), site.op)) return inner->operands[0];
  return std::nullopt;
}

std::optional<ValueId> simplify_add(const Site& site) {
  const ValueId a = site.operand(0), b = site.operand(1);
  if (site.splat(b) == 0.0) return a;
  if (site.splat(a) == 0.0) return b;
  if (const ir::Node* negated = site.producer(b, Op::neg))
    return site.build.binary(Op::sub, a, ValueId(negated->operands[0]));
  if (const ir::Node* negated = site.producer(a, Op::neg))
    return site.build.binary(Op::sub, b, ValueId(negated->operands[0]));
  return simplify_sum_of_pads(site);
}

std::optional<ValueId> simplify_sub(const Site& site) {
  const ValueId a = site.operand(0), b = site.operand(1);
  if (site.splat(b) == 0.0) return a;
  if (const ir::Node* negated = site.producer(b, Op::neg))
    return site.build.binary(Op::add, a, ValueId(negated->operands[0]));
  return std::nullopt;
}

std::optional<ValueId> simplify_mul(const Site& site) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (site.splat(site.operand(i)) == 1.0) return site.operand(1 - i);
    if (site.splat(site.operand(i)) == -1.0) return site.build.unary(Op::neg, site.operand(1 - i));
  }
  return std::nullopt;
}

std::optional<ValueId> simplify_pow(const Site& site) {
  const ValueId x = site.operand(0);
  const std::optional<double> exponent = site.splat(site.operand(1));
  if (exponent == 1.0) return x;
  if (exponent == 2.0) return site.build.binary(Op::mul, x, x);
  return std::nullopt;
}

/// With `neutral` the other operand decides; with the opposite it does not matter.
std::optional<ValueId> simplify_logical(const Site& site, double neutral) {
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<double> number = site.splat(site.operand(i));
    if (number) return *number == neutral ? site.operand(1 - i) : site.operand(i);
  }
  if (site.operand(0) == site.operand(1)) return site.operand(0);
  return std::nullopt;
}

std::optional<ValueId> simplify_select(const Site& site) {
  const ValueId a = site.operand(1), b = site.operand(2);
  if (const std::optional<double> condition = site.splat(site.operand(0))) return *condition != 0 ? a : b;
  if (a == b) return a;
  if (const ir::Node* inverted = site.producer(site.operand(0), Op::logical_not))
    return site.build.select(ValueId(inverted->operands[0]), b, a);
  return std::nullopt;
}

/// Every value of `from` is a value of `to`.
bool holds_all(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  switch (to) {
    case DType::f64:
      return from != DType::i64;
    case DType::f32:
      return from == DType::bf16 || from == DType::f16 || from == DType::u8 || from == DType::u16;
    case DType::f16:
    case DType::bf16:
      return from == DType::u8;
    case DType::i64:
      return is_integer(from);
    case DType::i32:
      return from == DType::u8 || from == DType::u16;
    case DType::u16:
      return from == DType::u8;
    case DType::u8:
    case DType::boolean:
      return false;
  }
  return false;
}

std::optional<ValueId> simplify_cast(const Site& site) {
  const ValueId x = site.operand(0);
  if (site.operand_type(0).dtype == site.type.dtype) return x;
  const ir::Node* inner = site.producer(x, Op::cast);
  if (inner == nullptr) return std::nullopt;
  const ValueId source = inner->operands[0];
  if (!holds_all(site.build.type(source).dtype, site.operand_type(0).dtype)) return std::nullopt;
  return site.build.cast(source, site.type.dtype);
}

}  // namespace

std::optional<ValueId> simplify_arithmetic(const Site& site) {
  if (const auto folded = fold_constants(site)) return folded;
  switch (site.op) {
    case Op::neg:
    case Op::logical_not:
      return undo_twice(site);
    case Op::abs:
    case Op::floor:
    case Op::stop_gradient:
      return site.producer(site.operand(0), site.op) ? std::optional(site.operand(0)) : std::nullopt;
    case Op::cast:
      return simplify_cast(site);
    case Op::add:
      return simplify_add(site);
    case Op::sub:
      return simplify_sub(site);
    case Op::mul:
      return simplify_mul(site);
    case Op::div:
      return site.splat(site.operand(1)) == 1.0 ? std::optional(site.operand(0)) : std::nullopt;
    case Op::pow:
      return simplify_pow(site);
    case Op::logical_and:
      return simplify_logical(site, 1.0);
    case Op::logical_or:
      return simplify_logical(site, 0.0);
    case Op::select:
      return simplify_select(site);
    default:
      return std::nullopt;  // no identity is worth a rule
  }
}

}  // namespace dtj::passes
