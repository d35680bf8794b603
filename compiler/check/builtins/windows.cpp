#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// windows and zero_pad: what convolutions and pools are made of.

namespace dtj::check {

namespace {

std::optional<std::vector<Value>> list_of(const PrimitiveCall& call, std::size_t place) {
  const Value& value = call.args[place];
  if (const auto* list = value.as<std::shared_ptr<List>>()) return (*list)->elements;
  if (const auto* tuple = value.as<std::shared_ptr<Tuple>>()) return (*tuple)->elements;
  if (!value.is_unbound())
    call.fail(diag::Kind::wrong_type, value.range, fmt::format("`{}` takes a list here, found {}", call.name, describe(value)));
  return std::nullopt;
}

/// An integer of at least `least`; unknown ones pass.
std::optional<Dim> read_size(const PrimitiveCall& call, const Value& value, const char* what, std::int64_t least) {
  const auto size = as_dim(value);
  if (!size) {
    if (!value.is_unbound() && !value.is_poison())
      call.fail(diag::Kind::wrong_type, value.range, fmt::format("a {} is an integer, found {}", what, describe(value)));
    return std::nullopt;
  }
  if (size->number() && *size->number() < least) {
    call.fail(diag::Kind::bad_window, value.range, fmt::format("a {} is at least {}, found {}", what, least, *size->number()),
              fmt::format("the nearest valid value is {}", least));
    return std::nullopt;
  }
  return size;
}

struct WindowSpec {
  std::size_t axis = 0;
  Dim size = 1, stride = 1;
};

std::optional<std::vector<WindowSpec>> read_windows(const PrimitiveCall& call, const TensorValue& x) {
  const auto axes = list_of(call, 1);
  const auto sizes = axes ? list_of(call, 2) : std::nullopt;
  if (!sizes) return std::nullopt;
  std::optional<std::vector<Value>> strides;
  if (call.has(3) && !(strides = list_of(call, 3))) return std::nullopt;
  if (sizes->size() != axes->size() || (strides && strides->size() != axes->size())) {
    const Value& odd = sizes->size() != axes->size() ? call.args[2] : call.args[3];
    call.fail(diag::Kind::wrong_argument, odd.range, fmt::format("`windows` takes one number for each of {} axes, found {}",
                                                                 axes->size(), describe(odd)));
    return std::nullopt;
  }
  std::vector<WindowSpec> specs;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = call.axis((*axes)[i], x.dims.size());
    const auto size = axis ? read_size(call, (*sizes)[i], "window", 1) : std::nullopt;
    auto stride = std::optional<Dim>(1);
    if (size && strides) stride = read_size(call, (*strides)[i], "stride", 1);
    if (!size || !stride) return std::nullopt;
    specs.push_back({static_cast<std::size_t>(*axis), *size, *stride});
    if (i > 0 && specs[i].axis <= specs[i - 1].axis) {
      call.fail(diag::Kind::bad_axis, (*axes)[i].range, "the axes of `windows` ascend");
      return std::nullopt;
    }
  }
  return specs;
}

/// How many windows lie in an axis. None: reported.
std::optional<Dim> count_windows(const PrimitiveCall& call, const TensorValue& x, const WindowSpec& spec) {
  const Dim& extent = x.dims[spec.axis];
  if (extent.number() && spec.size.number() && *spec.size.number() > *extent.number()) {
    call.in
        .report(diag::Kind::bad_window, call.range,
                fmt::format("a window of {} does not fit into dim {} of {}, which is {}", spec.size.to_string(), spec.axis,
                            to_string(x.dtype, x.dims), extent.to_string()))
        .help(fmt::format("the largest valid window is {}; a border (`pad` of a layer, or `zero_pad`) makes room for more", extent.to_string()));
    return std::nullopt;
  }
  const Dim rest = extent - spec.size;
  if (spec.stride.is(1)) return rest + 1;
  if (rest.number() && spec.stride.number()) return Dim(*rest.number() / *spec.stride.number() + 1);
  return Dim::opaque(fmt::format("({}) div {} + 1", rest.to_string(), spec.stride.to_string()));
}

/// x, with each of `axes` counting windows and the places inside of the windows as new last dims.
Value run_windows(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  const auto specs = x ? read_windows(call, *x) : std::nullopt;
  if (!specs) return {};
  if (specs->empty()) return call.args[0];
  TracedTensor op;
  op.op = TraceOp::windows;
  op.operands = {x->ref};
  Dims dims = x->dims;
  for (const WindowSpec& spec : *specs) {
    const auto count = count_windows(call, *x, spec);
    if (!count) return {};
    dims[spec.axis] = *count;
    op.ints.insert(op.ints.end(), {static_cast<std::int64_t>(spec.axis), spec.size.number().value_or(1),
                                   spec.stride.number().value_or(1)});
  }
  for (const WindowSpec& spec : *specs) dims.push_back(spec.size);
  return call.in.emit(std::move(op), x->dtype, std::move(dims), call.range, x->adopts);
}

/// A border of zeros: one (before, after) for each of the last dims.
Value run_pad(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  const auto pairs = x ? list_of(call, 1) : std::nullopt;
  if (!pairs) return {};
  if (x->dtype == DType::boolean)
    return call.fail(diag::Kind::dtype_mismatch, call.args[0].range, "`zero_pad` does not take a bool tensor");
  if (pairs->size() > x->dims.size()) {
    return call.fail(diag::Kind::bad_window, call.args[1].range,
                     fmt::format("{} dims get a border, but {} has {}", pairs->size(), to_string(x->dtype, x->dims), x->dims.size()));
  }
  TracedTensor op;
  op.op = TraceOp::pad;
  op.operands = {x->ref};
  Dims dims = x->dims;
  op.ints.assign(2 * (dims.size() - pairs->size()), 0);
  for (std::size_t i = 0; i < pairs->size(); ++i) {
    const auto* pair = (*pairs)[i].as<std::shared_ptr<Tuple>>();
    if (!pair || (*pair)->elements.size() != 2) {
      if ((*pairs)[i].is_unbound() || (*pairs)[i].is_poison()) return {};
      return call.fail(diag::Kind::wrong_type, (*pairs)[i].range,
                       fmt::format("a border is a pair (before, after), found {}", describe((*pairs)[i])));
    }
    Dim& dim = dims[dims.size() - pairs->size() + i];
    for (const Value& side : (*pair)->elements) {
      const auto width = read_size(call, side, "border", 0);
      if (!width) return {};
      dim = dim + *width;
      op.ints.push_back(width->number().value_or(0));
    }
  }
  if (dims == x->dims) return call.args[0];
  return call.in.emit(std::move(op), x->dtype, std::move(dims), call.range, x->adopts);
}

}  // namespace

std::vector<Primitive> window_primitives() {
  return {
      {"zero_pad", "x, widths", run_pad},
      {"windows", "x, axes, sizes, strides?", run_windows},
  };
}

}  // namespace dtj::check
