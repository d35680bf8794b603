#include <gsl/gsl>

#include "compiler/passes/autodiff/vjp.hpp"

namespace dtj::passes {
namespace {

using ir::Op;
using ir::ValueId;
using Ints = std::vector<std::int64_t>;

/// y = max over axes of x: the gradient goes to the maxima, in equal parts. They are counted in f32.
void vjp_reduce_max(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId x = call.operand(0), g = call.gradient();
  const Shape shape = call.type(x).shape;
  const DType dtype = call.type(x).dtype;
  const DType counter = dtype == DType::f64 ? DType::f64 : DType::f32;
  const ValueId is_max = b.binary(Op::eq, x, b.broadcast(call.result(), shape));
  const ValueId count = b.reduce(Op::reduce_sum, b.cast(is_max, counter), call.node.attrs.ints);
  const ValueId share = b.cast(b.binary(Op::div, b.cast(g, counter), count), dtype);
  call.contributions[0] = b.select(is_max, b.broadcast(share, shape), call.splat(x, 0.0));
}

void vjp_broadcast(VjpCall& call) {
  const Shape& from = call.type(call.operand(0)).shape;
  const Shape& to = call.type(call.result()).shape;
  Ints axes;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[i]) axes.push_back(static_cast<std::int64_t>(i));
  call.contributions[0] = call.build.reduce(Op::reduce_sum, call.gradient(), axes);
}

void vjp_transpose(VjpCall& call) {
  const Ints& order = call.node.attrs.ints;
  Ints inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  call.contributions[0] = call.build.transpose(call.gradient(), inverse);
}

void vjp_slice(VjpCall& call) {
  const Shape& from = call.type(call.operand(0)).shape;
  Ints widths = call.node.attrs.ints;
  for (std::size_t i = 0; i < from.size(); ++i) widths[2 * i + 1] = from[i] - widths[2 * i + 1];
  call.contributions[0] = call.build.pad(call.gradient(), widths);
}

void vjp_pad(VjpCall& call) {
  const Shape& from = call.type(call.operand(0)).shape;
  Ints range = call.node.attrs.ints;
  for (std::size_t i = 0; i < from.size(); ++i) range[2 * i + 1] = range[2 * i] + from[i];
  call.contributions[0] = call.build.slice(call.gradient(), range);
}

void vjp_concat(VjpCall& call) {
  const auto axis = static_cast<std::size_t>(call.node.attrs.ints[0]);
  std::int64_t begin = 0;
  for (std::size_t part = 0; part < call.node.operands.size(); ++part) {
    const Shape shape = call.type(call.operand(part)).shape;
    Ints range;
    for (const std::int64_t extent : shape) range.insert(range.end(), {0, extent});
    range[2 * axis] = begin;
    begin += shape[axis];
    range[2 * axis + 1] = begin;
    if (call.needs[part]) call.contributions[part] = call.build.slice(call.gradient(), range);
  }
}

/// The gradient of an element is the sum over the windows that hold it.
void vjp_windows(VjpCall& call) {
  const Ints& ints = call.node.attrs.ints;
  const Shape& shape = call.type(call.operand(0)).shape;
  Ints quadruples;
  for (std::size_t i = 0; i < ints.size(); i += 3)
    quadruples.insert(quadruples.end(), {ints[i], ints[i + 1], ints[i + 2], shape[static_cast<std::size_t>(ints[i])]});
  call.contributions[0] = call.build.fold(call.gradient(), std::move(quadruples));
}

void vjp_fold(VjpCall& call) {
  const Ints& ints = call.node.attrs.ints;
  Ints triples;
  for (std::size_t i = 0; i < ints.size(); i += 4)
    triples.insert(triples.end(), {ints[i], ints[i + 1], ints[i + 2]});
  call.contributions[0] = call.build.windows(call.gradient(), std::move(triples));
}

/// C = op(A) op(B): d op(A) = dC op(B)^T and d op(B) = op(A)^T dC. A transposed operand asks for the transposed
/// product; no transpose is ever materialised.
void vjp_matmul(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId a = call.operand(0), c = call.operand(1);
  const bool trans_a = call.node.attrs.ints[0] != 0, trans_b = call.node.attrs.ints[1] != 0;
  const ValueId g = b.cast(call.gradient(), call.type(a).dtype);
  // The second operand is the weight more often: its gradient completes first.
  if (call.needs[1]) {
    const DType dtype = gradient_dtype(b.graph(), c);
    call.contributions[1] = trans_b ? b.matmul(g, a, true, trans_a, dtype) : b.matmul(a, g, !trans_a, false, dtype);
  }
  if (call.needs[0]) {
    const DType dtype = gradient_dtype(b.graph(), a);
    call.contributions[0] = trans_a ? b.matmul(c, g, trans_b, true, dtype) : b.matmul(g, c, false, !trans_b, dtype);
  }
}

void vjp_gather(VjpCall& call) {
  ir::Builder& b = call.build;
  const ValueId table = call.operand(0);
  const ValueId g = b.cast(call.gradient(), gradient_dtype(b.graph(), table));
  call.contributions[0] = b.scatter_add_rows(call.operand(1), g, call.type(table).shape[0]);
}

/// The loss is the sum over the ranks: what every rank made of the sum comes back to each of them.
void vjp_all_reduce(VjpCall& call) {
  std::vector<ValueId> gradients;
  std::vector<std::size_t> operands;
  for (std::size_t i = 0; i < call.gradients.size(); ++i) {
    if (!call.gradients[i] || !call.needs[i]) continue;
    gradients.push_back(*call.gradients[i]);
    operands.push_back(i);
  }
  if (gradients.empty()) return;
  const auto reduced = call.build.all_reduce(gradients, call.node.attrs.text, call.node.attrs.ints[0]);
  for (std::size_t i = 0; i < operands.size(); ++i) call.contributions[operands[i]] = reduced[i];
}

}  // namespace

void vjp_structure(VjpCall& call) {
  ir::Builder& b = call.build;
  switch (call.node.op) {
    case Op::reduce_sum:
      call.contributions[0] = b.broadcast(call.gradient(), call.type(call.operand(0)).shape);
      return;
    case Op::reduce_max:
      vjp_reduce_max(call);
      return;
    case Op::broadcast:
      vjp_broadcast(call);
      return;
    case Op::reshape:
      call.contributions[0] = b.reshape(call.gradient(), call.type(call.operand(0)).shape);
      return;
    case Op::transpose:
      vjp_transpose(call);
      return;
    case Op::slice:
      vjp_slice(call);
      return;
    case Op::pad:
      vjp_pad(call);
      return;
    case Op::concat:
      vjp_concat(call);
      return;
    case Op::windows:
      vjp_windows(call);
      return;
    case Op::fold:
      vjp_fold(call);
      return;
    case Op::matmul:
      vjp_matmul(call);
      return;
    case Op::gather_rows:
      vjp_gather(call);
      return;
    case Op::scatter_add_rows:
      call.contributions[1] = b.gather_rows(call.gradient(), call.operand(0));
      return;
    case Op::all_reduce:
      vjp_all_reduce(call);
      return;
    case Op::constant:
    case Op::iota:
    case Op::argmax_last:
    case Op::fused:  // passes_gradient stops at these
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
    case Op::floor:
    case Op::sign:
    case Op::logical_not:
    case Op::cast:
    case Op::random:
    case Op::stop_gradient:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::pow:
    case Op::maximum:
    case Op::minimum:
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::logical_and:
    case Op::logical_or:
    case Op::select:
      break;
  }
  Expects(false);
}

}  // namespace dtj::passes
