#include <algorithm>

#include <gsl/assert>

#include "compiler/lower/constructs.hpp"

namespace dtj::lower {
namespace {

/// Sum over the axes divided by the number of elements summed, in the accumulator's dtype. The mean of nothing is NaN.
ir::ValueId mean(ir::Builder& builder, ir::ValueId wide, const std::vector<std::int64_t>& axes) {
  double count = 1;
  for (const auto axis : axes) count *= static_cast<double>(builder.type(wide).shape[static_cast<std::size_t>(axis)]);
  const auto sum = builder.reduce(ir::Op::reduce_sum, wide, axes);
  const auto scale = builder.constant(builder.type(sum), 1.0 / count);
  return builder.binary(ir::Op::mul, sum, scale);
}

}  // namespace

// The IR keeps reduced dims with extent 1; `keep = false` is a reshape, which costs nothing.
ir::ValueId lower_reduction(ir::Builder& builder, const Construct& construct) {
  Expects(construct.operands.size() == 1);
  const auto& tensor = construct.tensor;
  auto axes = tensor.ints;
  std::sort(axes.begin(), axes.end());
  const auto x = construct.operands[0];
  if (axes.empty()) return reshape_to(builder, builder.cast(x, tensor.type.dtype), tensor.type.shape);

  ir::ValueId result;
  switch (tensor.op) {
    case check::TraceOp::sum:
      result = builder.reduce(ir::Op::reduce_sum, builder.cast(x, accumulator_of(builder.type(x).dtype)), axes);
      break;
    case check::TraceOp::mean:
      result = mean(builder, builder.cast(x, accumulator_of(builder.type(x).dtype)), axes);
      break;
    case check::TraceOp::max:
      result = builder.reduce(ir::Op::reduce_max, x, axes);
      break;
    case check::TraceOp::min:
      result = builder.unary(ir::Op::neg, builder.reduce(ir::Op::reduce_max, builder.unary(ir::Op::neg, x), axes));
      break;
    default:
      Expects(false);  // `lower` sends nothing else here
  }
  return reshape_to(builder, builder.cast(result, tensor.type.dtype), tensor.type.shape);
}

}  // namespace dtj::lower
