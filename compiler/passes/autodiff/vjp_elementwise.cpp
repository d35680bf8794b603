#include <gsl/gsl>

#include "compiler/passes/autodiff/vjp.hpp"

namespace dtj::passes {
namespace {

using ir::Op;
using ir::ValueId;

constexpr double two_over_sqrt_pi = 1.1283791670955126;

/// dx of a unary op. x and y are its operand and its result, g the gradient of y.
ValueId slope_of_unary(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId x = call.operand(0), y = call.result(), g = call.gradient();
  const auto mul = [&](ValueId l, ValueId r) { return b.binary(Op::mul, l, r); };
  const auto number = [&](double value) { return call.splat(y, value); };
  switch (call.node.op) {
    case Op::neg:
      return b.unary(Op::neg, g);
    case Op::exp:
      return mul(g, y);
    case Op::log:
      return b.binary(Op::div, g, x);
    case Op::sqrt:
      return b.binary(Op::div, mul(g, number(0.5)), y);
    case Op::rsqrt:
      return mul(mul(g, number(-0.5)), mul(y, mul(y, y)));
    case Op::tanh:
      return mul(g, b.binary(Op::sub, number(1.0), mul(y, y)));
    case Op::erf:
      return mul(g, mul(number(two_over_sqrt_pi), b.unary(Op::exp, b.unary(Op::neg, mul(x, x)))));
    case Op::sin:
      return mul(g, b.unary(Op::cos, x));
    case Op::cos:
      return b.unary(Op::neg, mul(g, b.unary(Op::sin, x)));
    case Op::abs:
      return mul(g, b.unary(Op::sign, x));
    default:
      break;  // vjp_elementwise sends no others
  }
  Expects(false);
  return g;
}

void vjp_mul(VjpCall& call) {
  for (std::size_t i = 0; i < 2; ++i)
    if (call.needs[i]) call.contributions[i] = call.build.binary(Op::mul, call.gradient(), call.operand(1 - i));
}

void vjp_div(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId over = b.binary(Op::div, call.gradient(), call.operand(1));
  if (call.needs[0]) call.contributions[0] = over;
  if (call.needs[1]) call.contributions[1] = b.unary(Op::neg, b.binary(Op::mul, over, call.result()));
}

/// y = x^n: dx = g n x^(n-1), dn = g y log x.
void vjp_pow(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId x = call.operand(0), n = call.operand(1), g = call.gradient();
  const ValueId zero = call.splat(x, 0.0);
  if (call.needs[0]) {
    const ValueId less = b.binary(Op::sub, n, call.splat(n, 1.0));
    const ValueId slope = b.binary(Op::mul, n, b.binary(Op::pow, x, less));
    call.contributions[0] = b.select(b.binary(Op::eq, n, zero), zero, b.binary(Op::mul, g, slope));
  }
  if (call.needs[1]) {
    const ValueId flat = b.binary(Op::logical_and, b.binary(Op::eq, x, zero), b.binary(Op::ge, n, zero));
    const ValueId slope = b.binary(Op::mul, call.result(), b.unary(Op::log, x));
    call.contributions[1] = b.select(flat, zero, b.binary(Op::mul, g, slope));
  }
}

/// A constant, moved or cast or not.
bool is_constant(const ir::Graph& graph, ValueId value) {
  while (const auto producer = graph.value(value).producer) {
    const ir::Node& node = graph.node(*producer);
    if (node.op == Op::constant) return true;
    if (node.op != Op::broadcast && node.op != Op::reshape && node.op != Op::cast) return false;
    value = node.operands[0];
  }
  return false;
}

void vjp_extremum(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId g = call.gradient(), zero = call.splat(g, 0.0);
  const bool is_maximum = call.node.op == Op::maximum;
  const bool constants[2] = {is_constant(b.graph(), call.operand(0)), is_constant(b.graph(), call.operand(1))};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!call.needs[i]) continue;
    const ValueId mine = call.operand(i), other = call.operand(1 - i);
    // Written so that a NaN lets the gradient through.
    if (constants[1 - i]) {
      call.contributions[i] = b.select(b.binary(is_maximum ? Op::le : Op::ge, mine, other), zero, g);
      continue;
    }
    const ValueId half = b.binary(Op::mul, g, call.splat(g, 0.5));
    const ValueId loses = b.binary(is_maximum ? Op::lt : Op::gt, mine, other);
    call.contributions[i] = b.select(b.binary(Op::eq, mine, other), half, b.select(loses, zero, g));
  }
}

void vjp_select(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId condition = call.operand(0), g = call.gradient(), zero = call.splat(g, 0.0);
  if (call.needs[1]) call.contributions[1] = b.select(condition, g, zero);
  if (call.needs[2]) call.contributions[2] = b.select(condition, zero, g);
}

void vjp_sum(VjpCall& call) {
  const ValueId g = call.gradient();
  if (call.needs[0]) call.contributions[0] = g;
  if (call.needs[1]) call.contributions[1] = call.node.op == Op::add ? g : call.build.unary(Op::neg, g);
}

}  // namespace

void vjp_elementwise(VjpCall& call) {
  switch (call.node.op) {
    case Op::neg:
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::tanh:
    case Op::erf:
    case Op::sin:
    case Op::cos:
    case Op::abs:
      call.contributions[0] = slope_of_unary(call);
      return;
    case Op::cast:
      call.contributions[0] = call.gradient();
      return;  // the caller casts to the operand's gradient dtype
    case Op::add:
    case Op::sub:
      vjp_sum(call);
      return;
    case Op::mul:
      vjp_mul(call);
      return;
    case Op::div:
      vjp_div(call);
      return;
    case Op::pow:
      vjp_pow(call);
      return;
    case Op::maximum:
    case Op::minimum:
      vjp_extremum(call);
      return;
    case Op::select:
      vjp_select(call);
      return;
    case Op::floor:
    case Op::sign:
    case Op::logical_not:
    case Op::random:
    case Op::stop_gradient:
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::logical_and:
    case Op::logical_or:  // passes_gradient stops at these
    case Op::constant:
    case Op::iota:
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
      break;
  }
  Expects(false);
}

}  // namespace dtj::passes
