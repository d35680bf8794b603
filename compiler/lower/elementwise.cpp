#include <optional>

#include <gsl/assert>

#include "compiler/lower/constructs.hpp"

namespace dtj::lower {
namespace {

/// The IR op of the same meaning, for ops that exist in both.
std::optional<ir::Op> same_op(check::TraceOp op) {
  using check::TraceOp;
  switch (op) {
    case TraceOp::neg:
      return ir::Op::neg;
    case TraceOp::exp:
      return ir::Op::exp;
    case TraceOp::log:
      return ir::Op::log;
    case TraceOp::sqrt:
      return ir::Op::sqrt;
    case TraceOp::rsqrt:
      return ir::Op::rsqrt;
    case TraceOp::tanh:
      return ir::Op::tanh;
    case TraceOp::erf:
      return ir::Op::erf;
    case TraceOp::sin:
      return ir::Op::sin;
    case TraceOp::cos:
      return ir::Op::cos;
    case TraceOp::abs:
      return ir::Op::abs;
    case TraceOp::floor:
      return ir::Op::floor;
    case TraceOp::sign:
      return ir::Op::sign;
    case TraceOp::logical_not:
      return ir::Op::logical_not;
    case TraceOp::stop_gradient:
      return ir::Op::stop_gradient;
    case TraceOp::add:
      return ir::Op::add;
    case TraceOp::sub:
      return ir::Op::sub;
    case TraceOp::mul:
      return ir::Op::mul;
    case TraceOp::div:
      return ir::Op::div;
    case TraceOp::pow:
      return ir::Op::pow;
    case TraceOp::maximum:
      return ir::Op::maximum;
    case TraceOp::minimum:
      return ir::Op::minimum;
    case TraceOp::eq:
      return ir::Op::eq;
    case TraceOp::ne:
      return ir::Op::ne;
    case TraceOp::lt:
      return ir::Op::lt;
    case TraceOp::le:
      return ir::Op::le;
    case TraceOp::gt:
      return ir::Op::gt;
    case TraceOp::ge:
      return ir::Op::ge;
    case TraceOp::logical_and:
      return ir::Op::logical_and;
    case TraceOp::logical_or:
      return ir::Op::logical_or;
    case TraceOp::input:
    case TraceOp::constant:
    case TraceOp::iota:
    case TraceOp::where:
    case TraceOp::cast:
    case TraceOp::sum:
    case TraceOp::mean:
    case TraceOp::max:
    case TraceOp::min:
    case TraceOp::argmax:
    case TraceOp::einsum:
    case TraceOp::rearrange:
    case TraceOp::reshape:
    case TraceOp::transpose:
    case TraceOp::broadcast_to:
    case TraceOp::slice:
    case TraceOp::concat:
    case TraceOp::pad:
    case TraceOp::windows:
    case TraceOp::random:
    case TraceOp::all_mean:
    case TraceOp::gather_rows:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

// The trace broadcasts to the right without saying so; the IR wants equal shapes.
ir::ValueId lower_elementwise(ir::Builder& builder, const Construct& construct) {
  const auto op = same_op(construct.tensor.op);
  Expects(op && construct.operands.size() == static_cast<std::size_t>(ir::num_operands(*op)));
  if (construct.operands.size() == 1) return builder.unary(*op, construct.operands[0]);
  const Shape& shape = construct.tensor.type.shape;
  return builder.binary(*op, builder.broadcast(construct.operands[0], shape),
                        builder.broadcast(construct.operands[1], shape));
}

ir::ValueId lower_where(ir::Builder& builder, const Construct& construct) {
  Expects(construct.operands.size() == 3);
  const Shape& shape = construct.tensor.type.shape;
  return builder.select(builder.broadcast(construct.operands[0], shape),
                        builder.broadcast(construct.operands[1], shape),
                        builder.broadcast(construct.operands[2], shape));
}

}  // namespace dtj::lower
