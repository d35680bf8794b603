#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"
#include "compiler/check/interpreter.hpp"
#include "compiler/check/numbers.hpp"
#include "compiler/check/units.hpp"

// Operators: numbers are computed here, tensors are recorded.

namespace dtj::check {

namespace {

using ast::BinaryOp;

std::optional<TraceOp> tensor_op(BinaryOp op) {
  switch (op) {
    case BinaryOp::pow:
      return TraceOp::pow;
    case BinaryOp::mul:
      return TraceOp::mul;
    case BinaryOp::div:
      return TraceOp::div;
    case BinaryOp::add:
      return TraceOp::add;
    case BinaryOp::sub:
      return TraceOp::sub;
    case BinaryOp::eq:
      return TraceOp::eq;
    case BinaryOp::ne:
      return TraceOp::ne;
    case BinaryOp::lt:
      return TraceOp::lt;
    case BinaryOp::le:
      return TraceOp::le;
    case BinaryOp::gt:
      return TraceOp::gt;
    case BinaryOp::ge:
      return TraceOp::ge;
    case BinaryOp::logical_and:
      return TraceOp::logical_and;
    case BinaryOp::logical_or:
      return TraceOp::logical_or;
    case BinaryOp::floor_div:
    case BinaryOp::mod:
    case BinaryOp::matmul:
    case BinaryOp::range:
    case BinaryOp::divides:
      return std::nullopt;
  }
  return std::nullopt;
}

bool is_equality(BinaryOp op) {
  return op == BinaryOp::eq || op == BinaryOp::ne;
}

template <class T>
std::optional<bool> same(const Value& a, const Value& b) {
  const auto* left = a.as<T>();
  const auto* right = b.as<T>();
  if (!left || !right) return std::nullopt;
  return *left == *right;
}

/// A secret compared with text or with another secret; none: something else is asked of it.
std::optional<Value> compare_secrets(BinaryOp op, const Value& lhs, const Value& rhs, source::Range range) {
  if (!is_equality(op)) return std::nullopt;
  std::vector<std::optional<std::string>> texts;
  for (const Value* side : {&lhs, &rhs}) {
    const auto* secret = side->as<Secret>();
    const auto* text = side->as<std::string>();
    if (!secret && !text) return std::nullopt;
    texts.push_back(secret ? secret->text : std::optional(*text));
  }
  if (!texts[0] || !texts[1]) return Value{Unbound{}, range};
  return Value{(texts[0] == texts[1]) == (op == BinaryOp::eq), range};
}

/// Equality of values that have nothing but equality; none: they have more, or cannot be compared.
std::optional<bool> plain_equal(const Value& a, const Value& b) {
  if (a.as<None>() || b.as<None>()) return a.as<None>() && b.as<None>();
  if (auto equal = same<bool>(a, b)) return equal;
  if (auto equal = same<std::string>(a, b)) return equal;
  const auto* left = a.as<EnumValue>();
  const auto* right = b.as<EnumValue>();
  if (left && right && left->enum_name == right->enum_name) return left->value == right->value;
  return std::nullopt;
}

}  // namespace

Value Interpreter::unary(ast::UnaryOp op, const Value& operand, source::Range range) {
  if (operand.is_poison() || operand.is_unbound()) return operand;
  if (op == ast::UnaryOp::logical_not) {
    if (const auto* flag = operand.as<bool>()) return {!*flag, range};
    if (as_tensor(operand)) return emit_unary(TraceOp::logical_not, operand, range);
    report(diag::Kind::wrong_type, operand.range, fmt::format("`not` takes a bool, found {}", describe(operand)));
    return {};
  }
  if (auto dim = as_dim(operand)) return make_int(Dim(0) - *dim, range);
  if (const auto* real = operand.as<double>()) return {-*real, range};
  if (const auto* quantity = operand.as<Quantity>()) return {Quantity{-quantity->amount, quantity->kind}, range};
  if (as_tensor(operand)) return emit_unary(TraceOp::neg, operand, range);
  report(diag::Kind::wrong_type, operand.range,
         fmt::format("`-` takes a number or a tensor, found {}", describe(operand)));
  return {};
}

Value Interpreter::binary(ast::BinaryOp op, const Value& lhs, const Value& rhs, source::Range range) {
  if (lhs.is_poison() || rhs.is_poison()) return {};
  if (as_tensor(lhs) || as_tensor(rhs)) {
    if (op == BinaryOp::matmul) return matmul(*this, lhs, rhs, range);
    if (auto traced = tensor_op(op)) return emit_binary(*traced, lhs, rhs, range);
    report(diag::Kind::wrong_type, range, fmt::format("`{}` does not take tensors", ast::to_string(op)));
    return {};
  }
  if (lhs.is_unbound()) return lhs;
  if (rhs.is_unbound()) return rhs;
  if (lhs.as<Secret>() || rhs.as<Secret>()) {
    if (auto equal = compare_secrets(op, lhs, rhs, range)) return *equal;
  }
  if (is_equality(op)) {
    if (auto equal = plain_equal(lhs, rhs)) return {*equal == (op == BinaryOp::eq), range};
  }
  if (op == BinaryOp::range && as_dim(lhs) && as_dim(rhs)) {
    auto begin = as_dim(lhs)->number();
    auto end = as_dim(rhs)->number();
    // A length that is not known yet is elaborated for two rounds: what holds for two holds for any number.
    if (!begin || !end) return {IntRange{begin.value_or(0), begin.value_or(0) + 2}, range};
    return {IntRange{*begin, *end}, range};
  }
  if (op == BinaryOp::add) {
    const auto* left = lhs.as<std::string>();
    const auto* right = rhs.as<std::string>();
    if (left && right) return {*left + *right, range};
    const auto* first = lhs.as<std::shared_ptr<List>>();
    const auto* second = rhs.as<std::shared_ptr<List>>();
    if (first && second) {
      auto joined = std::make_shared<List>(**first);
      joined->elements.insert(joined->elements.end(), (*second)->elements.begin(), (*second)->elements.end());
      return {joined, range};
    }
  }
  if (lhs.as<Quantity>() || rhs.as<Quantity>()) return quantity_binary(*this, op, lhs, rhs, range);
  const bool has_numbers = is_number(lhs) && is_number(rhs);
  if (has_numbers && as_dim(lhs) && as_dim(rhs)) return integer_binary(*this, op, lhs, rhs, range, is_symbolic_);
  if (has_numbers) return real_binary(*this, op, lhs, rhs, range);
  if (is_equality(op) && lhs.data.index() == rhs.data.index() && !lhs.as<bool>()) {
    report(diag::Kind::wrong_type, range,
           fmt::format("`{}` cannot compare {} with {}", ast::to_string(op), describe(lhs), describe(rhs)));
    return {};
  }
  report(diag::Kind::wrong_type, range,
         fmt::format("`{}` does not take {} and {}", ast::to_string(op), describe(lhs), describe(rhs)));
  return {};
}

}  // namespace dtj::check
