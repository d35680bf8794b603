#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// sum, mean, max, min, argmax: over `axis` (an integer, a list, or all), keeping the dims as 1 with `keep = true`.

namespace dtj::check {

namespace {

std::optional<std::vector<std::int64_t>> read_axes(PrimitiveCall& call, std::size_t rank) {
  std::vector<std::int64_t> axes;
  if (!call.has(1)) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
  }
  std::vector<Value> written{call.args[1]};
  if (const auto* list = call.args[1].as<std::shared_ptr<List>>()) written = (*list)->elements;
  for (const Value& value : written) {
    auto axis = call.axis(value, rank);
    if (!axis) return std::nullopt;
    if (std::find(axes.begin(), axes.end(), *axis) != axes.end()) {
      call.fail(diag::Kind::bad_axis, value.range, fmt::format("the axis {} is given twice", *axis));
      return std::nullopt;
    }
    axes.push_back(*axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

Dims reduced(const Dims& dims, const std::vector<std::int64_t>& axes, bool keep) {
  Dims result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!is_reduced)
      result.push_back(dims[i]);
    else if (keep)
      result.push_back(1);
  }
  return result;
}

Value reduce(PrimitiveCall& call, TraceOp op) {
  const auto* x = call.tensor(0);
  if (!x) return {};
  if (x->dtype == DType::boolean || (op == TraceOp::mean && !is_float(x->dtype))) {
    return call.fail(diag::Kind::dtype_mismatch, call.args[0].range,
                     fmt::format("`{}` does not take {}", call.name, describe(call.args[0])),
                     fmt::format("convert it: `{}({} as f32)`", call.name, call.in.text_of(call.args[0].range)));
  }
  auto axes = read_axes(call, x->dims.size());
  auto keep = call.flag(2, false);
  if (!axes || !keep) return {};
  TracedTensor traced;
  traced.op = op;
  traced.operands = {x->ref};
  traced.ints = *axes;
  traced.flag = *keep;
  return call.in.emit(std::move(traced), x->dtype, reduced(x->dims, *axes, *keep), call.range, x->adopts);
}

Value run_sum(PrimitiveCall& call) {
  return reduce(call, TraceOp::sum);
}
Value run_mean(PrimitiveCall& call) {
  return reduce(call, TraceOp::mean);
}
Value run_max(PrimitiveCall& call) {
  return reduce(call, TraceOp::max);
}
Value run_min(PrimitiveCall& call) {
  return reduce(call, TraceOp::min);
}

Value run_argmax(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  if (!x) return {};
  if (x->dtype == DType::boolean) {
    return call.fail(diag::Kind::dtype_mismatch, call.args[0].range,
                     fmt::format("`argmax` does not take {}", describe(call.args[0])));
  }
  auto axis = call.axis(call.args[1], x->dims.size());
  if (!axis) return {};
  TracedTensor traced;
  traced.op = TraceOp::argmax;
  traced.operands = {x->ref};
  traced.ints = {*axis};
  return call.in.emit(std::move(traced), DType::i32, reduced(x->dims, {*axis}, false), call.range);
}

}  // namespace

std::vector<Primitive> reduction_primitives() {
  return {
      {"argmax", "x, axis", run_argmax},   {"max", "x, axis?, keep?", run_max}, {"mean", "x, axis?, keep?", run_mean},
      {"min", "x, axis?, keep?", run_min}, {"sum", "x, axis?, keep?", run_sum},
  };
}

}  // namespace dtj::check
