#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// reshape, flatten, transpose, split, concat, and what is asked of shapes.

namespace dtj::check {

namespace {

Value emit_reshape(PrimitiveCall& call, const TensorValue& x, Dims dims) {
  if (dims == x.dims) return call.args[0];
  TracedTensor op;
  op.op = TraceOp::reshape;
  op.operands = {x.ref};
  return call.in.emit(std::move(op), x.dtype, std::move(dims), call.range, x.adopts);
}

std::optional<std::vector<Value>> list_of(const PrimitiveCall& call, std::size_t place, const std::string& of_what) {
  const Value& value = call.args[place];
  if (const auto* list = value.as<std::shared_ptr<List>>()) return (*list)->elements;
  if (const auto* tuple = value.as<std::shared_ptr<Tuple>>()) return (*tuple)->elements;
  if (!value.is_unbound())
    call.fail(diag::Kind::wrong_type, value.range,
              fmt::format("`{}` takes a list of {}, found {}", call.name, of_what, describe(value)));
  return std::nullopt;
}

Value run_reshape(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  if (!x) return {};
  auto sizes = list_of(call, 1, "sizes");
  if (!sizes) return {};
  Dims dims;
  Dim known = 1;
  std::optional<std::size_t> open;
  for (const Value& value : *sizes) {
    auto size = as_dim(value);
    if (!size) {
      if (value.is_unbound() || value.is_poison()) return {};
      return call.fail(diag::Kind::wrong_type, value.range,
                       fmt::format("a size is an integer, found {}", describe(value)));
    }
    if (size->is(-1)) {
      if (open) return call.fail(diag::Kind::bad_value, value.range, "only one size can be -1");
      open = dims.size();
    } else if (size->number() && *size->number() < 0) {
      return call.fail(diag::Kind::bad_value, value.range, fmt::format("a size cannot be {}", *size->number()));
    } else {
      known = known * *size;
    }
    dims.push_back(*size);
  }
  const Dim total = product(x->dims);
  if (open) {
    auto rest = known.is(0) ? std::nullopt : Dim::divide(total, known);
    if (!rest && total.number() && known.number()) {
      return call.fail(diag::Kind::shape_mismatch, call.args[1].range,
                       fmt::format("{} cannot be reshaped: {} elements are not divisible by {}",
                                   to_string(x->dtype, x->dims), total.to_string(), known.to_string()));
    }
    dims[*open] = rest ? *rest : Dim::quotient(total, known);
  } else if (are_equal(total, known) == Truth::no) {
    return call.fail(diag::Kind::shape_mismatch, call.args[1].range,
                     fmt::format("{} cannot be reshaped to {}: it has {} elements, not {}",
                                 to_string(x->dtype, x->dims), to_string(dims), total.to_string(), known.to_string()));
  }
  return emit_reshape(call, *x, std::move(dims));
}

Value run_flatten(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  if (!x) return {};
  if (x->dims.empty()) return emit_reshape(call, *x, {Dim(1)});
  auto from = call.has(1) ? call.axis(call.args[1], x->dims.size()) : std::optional<std::int64_t>(0);
  if (!from) return {};
  Dims dims(x->dims.begin(), x->dims.begin() + *from);
  dims.push_back(product(Dims(x->dims.begin() + *from, x->dims.end())));
  return emit_reshape(call, *x, std::move(dims));
}

Value run_transpose(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  if (!x) return {};
  auto axes = list_of(call, 1, "axes");
  if (!axes) return {};
  TracedTensor op;
  op.op = TraceOp::transpose;
  op.operands = {x->ref};
  Dims dims;
  for (const Value& value : *axes) {
    auto axis = call.axis(value, x->dims.size());
    if (!axis) return {};
    if (std::find(op.ints.begin(), op.ints.end(), *axis) != op.ints.end()) {
      return call.fail(diag::Kind::bad_axis, value.range, fmt::format("the axis {} is given twice", *axis));
    }
    op.ints.push_back(*axis);
    dims.push_back(x->dims[static_cast<std::size_t>(*axis)]);
  }
  if (dims.size() != x->dims.size()) {
    return call.fail(diag::Kind::bad_axis, call.args[1].range,
                     fmt::format("`transpose` takes all {} axes of {}, found {}", x->dims.size(),
                                 to_string(x->dtype, x->dims), dims.size()));
  }
  return call.in.emit(std::move(op), x->dtype, std::move(dims), call.range, x->adopts);
}

/// The part [begin, begin + length) of `axis`, dropping the axis if asked to.
Value take_part(PrimitiveCall& call, std::size_t axis, std::int64_t begin, const Dim& length, bool drops) {
  const TensorValue x = *as_tensor(call.args[0]);
  TracedTensor op;
  op.op = TraceOp::slice;
  op.operands = {x.ref};
  Dims dims = x.dims;
  dims[axis] = length;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    op.ints.push_back(i == axis ? begin : 0);
    op.ints.push_back(i == axis ? begin + length.number().value_or(0) : x.dims[i].number().value_or(0));
  }
  Value part = call.in.emit(std::move(op), x.dtype, dims, call.range, x.adopts);
  if (!drops || part.is_poison()) return part;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  TracedTensor reshape;
  reshape.op = TraceOp::reshape;
  reshape.operands = {call.in.ref(part)};
  return call.in.emit(std::move(reshape), x.dtype, dims, call.range, x.adopts);
}

Value run_split(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  if (!x) return {};
  if (x->dims.empty()) return call.fail(diag::Kind::bad_axis, call.args[0].range, "a scalar cannot be split");
  auto axis = call.has(2) ? call.axis(call.args[2], x->dims.size()) : std::optional<std::int64_t>(0);
  if (!axis) return {};
  const auto place = static_cast<std::size_t>(*axis);
  const Dim whole = x->dims[place];
  auto tuple = std::make_shared<Tuple>();
  std::vector<Dim> lengths;
  if (!call.has(1)) {
    // Without `parts`: every entry of the axis, and the axis is gone.
    if (!whole.number()) return {};
    constexpr std::int64_t max_parts = 1024;
    if (*whole.number() > max_parts)
      return call.fail(diag::Kind::too_large, call.args[0].range,
                       fmt::format("`split` would give {} tensors", *whole.number()), "give the number of `parts`");
    lengths.assign(static_cast<std::size_t>(*whole.number()), Dim(1));
  } else if (const auto* parts = call.args[1].as<std::int64_t>()) {
    auto length = *parts > 0 ? Dim::divide(whole, *parts) : std::nullopt;
    if (*parts < 1 || (!length && whole.number())) {
      return call.fail(
          diag::Kind::shape_mismatch, call.args[1].range,
          fmt::format("dim {} of {} cannot be split into {} equal parts", place, to_string(x->dtype, x->dims), *parts));
    }
    lengths.assign(static_cast<std::size_t>(*parts), length ? *length : Dim::quotient(whole, *parts));
  } else {
    auto sizes = list_of(call, 1, "sizes");
    if (!sizes) return {};
    Dim total = 0;
    for (const Value& value : *sizes) {
      auto size = as_dim(value);
      if (!size)
        return call.fail(diag::Kind::wrong_type, value.range,
                         fmt::format("a size is an integer, found {}", describe(value)));
      lengths.push_back(*size);
      total = total + *size;
    }
    if (are_equal(total, whole) == Truth::no) {
      return call.fail(
          diag::Kind::shape_mismatch, call.args[1].range,
          fmt::format("the parts of dim {} add up to {}, but it is {}", place, total.to_string(), whole.to_string()));
    }
  }
  std::int64_t begin = 0;
  for (const Dim& length : lengths) {
    tuple->elements.push_back(take_part(call, place, begin, length, !call.has(1)));
    begin += length.number().value_or(0);
  }
  return {tuple, call.range};
}

Value run_concat(PrimitiveCall& call) {
  auto parts = list_of(call, 0, "tensors");
  if (!parts) return {};
  if (parts->empty()) return call.fail(diag::Kind::bad_value, call.args[0].range, "`concat` needs at least one tensor");
  for (const Value& part : *parts) {
    if (part.is_poison() || part.is_unbound()) return {};
    if (!as_tensor(part))
      return call.fail(diag::Kind::wrong_type, part.range,
                       fmt::format("`concat` takes tensors, found {}", describe(part)));
  }
  const bool adopts =
      std::all_of(parts->begin(), parts->end(), [](const Value& part) { return as_tensor(part)->adopts; });
  if (!call.in.unify_dtypes(*parts, "concat", call.range)) return {};
  Dims dims = as_tensor(parts->front())->dims;
  auto axis = call.has(1) ? call.axis(call.args[1], dims.size())
                          : call.axis({std::int64_t{0}, call.args[0].range}, dims.size());
  if (!axis) return {};
  const auto place = static_cast<std::size_t>(*axis);
  TracedTensor op;
  op.op = TraceOp::concat;
  op.ints = {*axis};
  Dim total = 0;
  for (const Value& part : *parts) {
    const Dims& other = as_tensor(part)->dims;
    bool fits = other.size() == dims.size();
    for (std::size_t i = 0; fits && i < dims.size(); ++i)
      fits = i == place || are_equal(dims[i], other[i]) != Truth::no;
    if (!fits) {
      call.in
          .report(diag::Kind::shape_mismatch, part.range,
                  fmt::format("shapes disagree in `concat`: {} and {} may differ in dim {} only", to_string(dims),
                              to_string(other), place))
          .under(to_string(other))
          .label(parts->front().range, to_string(dims));
      return {};
    }
    total = total + other[place];
    op.operands.push_back(call.in.ref(part));
  }
  dims[place] = total;
  const DType dtype = as_tensor(parts->front())->dtype;
  return call.in.emit(std::move(op), dtype, std::move(dims), call.range, adopts);
}

Value run_ndim(PrimitiveCall& call) {
  if (const auto* slot = call.args[0].as<ParamSlot>())
    return {static_cast<std::int64_t>(slot->dims.size()), call.range};
  const auto* x = call.tensor(0);
  return x ? Value{static_cast<std::int64_t>(x->dims.size()), call.range} : Value{};
}

Value run_size(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  auto axis = x ? call.axis(call.args[1], x->dims.size()) : std::nullopt;
  return axis ? make_int(x->dims[static_cast<std::size_t>(*axis)], call.range) : Value{};
}

}  // namespace

std::vector<Primitive> shape_primitives() {
  return {
      {"concat", "parts, axis?", run_concat},
      {"flatten", "x, from?", run_flatten},
      {"ndim", "x", run_ndim},
      {"reshape", "x, sizes", run_reshape},
      {"size", "x, axis", run_size},
      {"split", "x, parts?, axis?", run_split},
      {"transpose", "x, axes", run_transpose},
  };
}

}  // namespace dtj::check
