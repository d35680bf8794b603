#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// Functions of one element, and choices between two. On numbers they are computed, on tensors recorded.

namespace dtj::check {

namespace {

template <TraceOp op>
Value apply(PrimitiveCall& call, double (*compute)(double), bool (*is_defined)(double)) {
  const Value& x = call.args[0];
  if (as_tensor(x)) return call.in.emit_unary(op, x, call.range);
  if (auto number = as_number(x)) {
    if (is_defined(*number)) return {compute(*number), call.range};
    return call.fail(diag::Kind::bad_value, x.range, fmt::format("`{}` has no value at {}", call.name, show(x)));
  }
  if (is_number(x)) return {Unbound{}, call.range};
  return call.fail(diag::Kind::wrong_type, x.range,
                   fmt::format("`{}` takes a number or a tensor, found {}", call.name, describe(x)));
}

bool everywhere(double) {
  return true;
}
bool at_positive(double x) {
  return x > 0;
}
bool at_non_negative(double x) {
  return x >= 0;
}

Value run_exp(PrimitiveCall& call) {
  return apply<TraceOp::exp>(call, std::exp, everywhere);
}
Value run_log(PrimitiveCall& call) {
  return apply<TraceOp::log>(call, std::log, at_positive);
}
Value run_sqrt(PrimitiveCall& call) {
  return apply<TraceOp::sqrt>(call, std::sqrt, at_non_negative);
}
Value run_tanh(PrimitiveCall& call) {
  return apply<TraceOp::tanh>(call, std::tanh, everywhere);
}
Value run_erf(PrimitiveCall& call) {
  return apply<TraceOp::erf>(call, std::erf, everywhere);
}
Value run_sin(PrimitiveCall& call) {
  return apply<TraceOp::sin>(call, std::sin, everywhere);
}
Value run_cos(PrimitiveCall& call) {
  return apply<TraceOp::cos>(call, std::cos, everywhere);
}
Value run_rsqrt(PrimitiveCall& call) {
  return apply<TraceOp::rsqrt>(
      call, [](double x) { return 1.0 / std::sqrt(x); }, at_positive);
}

Value run_abs(PrimitiveCall& call) {
  if (const auto* number = call.args[0].as<std::int64_t>()) return {*number < 0 ? -*number : *number, call.range};
  return apply<TraceOp::abs>(call, std::fabs, everywhere);
}

Value run_sign(PrimitiveCall& call) {
  if (const auto* number = call.args[0].as<std::int64_t>())
    return {std::int64_t{(*number > 0) - (*number < 0)}, call.range};
  return apply<TraceOp::sign>(
      call, [](double x) { return static_cast<double>((x > 0) - (x < 0)); }, everywhere);
}

Value run_floor(PrimitiveCall& call) {
  if (as_dim(call.args[0])) return call.args[0];
  const auto* number = call.args[0].as<double>();
  if (number && std::abs(*number) < 9e15) return {static_cast<std::int64_t>(std::floor(*number)), call.range};
  return apply<TraceOp::floor>(call, std::floor, everywhere);
}

Value extreme(PrimitiveCall& call, TraceOp op) {
  const Value& a = call.args[0];
  const Value& b = call.args[1];
  if (as_tensor(a) || as_tensor(b)) return call.in.emit_binary(op, a, b, call.range);
  const bool wants_more = op == TraceOp::maximum;
  const auto* first = a.as<std::int64_t>();
  const auto* second = b.as<std::int64_t>();
  if (first && second) return {wants_more ? std::max(*first, *second) : std::min(*first, *second), call.range};
  const auto left = as_number(a);
  const auto right = as_number(b);
  if (left && right) return {wants_more ? std::max(*left, *right) : std::min(*left, *right), call.range};
  if (is_number(a) && is_number(b)) return {Unbound{}, call.range};
  const Value& wrong = is_number(a) ? b : a;
  return call.fail(diag::Kind::wrong_type, wrong.range,
                   fmt::format("`{}` takes numbers or tensors, found {}", call.name, describe(wrong)));
}

Value run_maximum(PrimitiveCall& call) {
  return extreme(call, TraceOp::maximum);
}
Value run_minimum(PrimitiveCall& call) {
  return extreme(call, TraceOp::minimum);
}

Value run_where(PrimitiveCall& call) {
  const Value& condition = call.args[0];
  if (const auto* flag = condition.as<bool>()) return call.args[*flag ? 1 : 2];
  if (condition.is_unbound()) return condition;
  const auto* chosen = as_tensor(condition);
  if (!chosen || chosen->dtype != DType::boolean) {
    return call.fail(diag::Kind::dtype_mismatch, condition.range,
                     fmt::format("`where` takes a bool tensor as its condition, found {}", describe(condition)),
                     chosen ? fmt::format("write `{} != 0`", call.in.text_of(condition.range)) : "");
  }
  std::vector<Value> sides{call.args[1], call.args[2]};
  if (!as_tensor(sides[0]) && !as_tensor(sides[1])) {
    // Two numbers: nothing else says which dtype is meant.
    if (!is_number(sides[0]))
      return call.fail(diag::Kind::wrong_type, sides[0].range,
                       fmt::format("`where` takes numbers or tensors, found {}", describe(sides[0])));
    const bool is_integer = as_dim(sides[0]) && as_dim(sides[1]);
    sides[0] =
        call.in.emit_constant(as_number(sides[0]).value_or(0), is_integer ? DType::i32 : DType::f32, sides[0].range);
    if (sides[0].is_poison()) return {};
  }
  if (!call.in.unify_dtypes(sides, "where", call.range)) return {};
  sides[0].range = call.args[1].range;
  sides[1].range = call.args[2].range;
  auto dims = call.in.broadcast({condition, sides[0], sides[1]}, "where", call.range);
  if (!dims) return {};
  TracedTensor op;
  op.op = TraceOp::where;
  op.operands = {call.in.ref(condition), call.in.ref(sides[0]), call.in.ref(sides[1])};
  return call.in.emit(std::move(op), as_tensor(sides[0])->dtype, *dims, call.range);
}

Value run_stop_gradient(PrimitiveCall& call) {
  if (is_number(call.args[0])) return call.args[0];
  const auto* x = call.tensor(0);
  if (!x) return {};
  TracedTensor op;
  op.op = TraceOp::stop_gradient;
  op.operands = {x->ref};
  return call.in.emit(std::move(op), x->dtype, x->dims, call.range, x->adopts);
}

}  // namespace

std::vector<Primitive> elementwise_primitives() {
  return {
      {"abs", "x", run_abs},
      {"cos", "x", run_cos},
      {"erf", "x", run_erf},
      {"exp", "x", run_exp},
      {"floor", "x", run_floor},
      {"log", "x", run_log},
      {"maximum", "a, b", run_maximum},
      {"minimum", "a, b", run_minimum},
      {"rsqrt", "x", run_rsqrt},
      {"sign", "x", run_sign},
      {"sin", "x", run_sin},
      {"sqrt", "x", run_sqrt},
      {"stop_gradient", "x", run_stop_gradient},
      {"tanh", "x", run_tanh},
      {"where", "condition, a, b", run_where},
  };
}

}  // namespace dtj::check
