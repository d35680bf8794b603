#include <gsl/assert>

#include "compiler/lower/constructs.hpp"

namespace dtj::lower {

// The IR looks rows up with a flat index.
ir::ValueId lower_gather(ir::Builder& builder, const Construct& construct) {
  Expects(construct.operands.size() == 2);
  const auto index = builder.cast(construct.operands[1], DType::i32);
  const auto flat = reshape_to(builder, index, {num_elements(builder.type(index).shape)});
  const auto rows = builder.gather_rows(construct.operands[0], flat);
  return builder.cast(reshape_to(builder, rows, construct.tensor.type.shape), construct.tensor.type.dtype);
}

// The IR finds the largest element of the rows of a matrix: the axis moves to the end, the others become rows.
ir::ValueId lower_argmax(ir::Builder& builder, const Construct& construct) {
  Expects(construct.operands.size() == 1 && construct.tensor.ints.size() == 1);
  const auto x = construct.operands[0];
  const Shape shape = builder.type(x).shape;
  const auto axis = static_cast<std::size_t>(construct.tensor.ints[0]);
  Expects(axis < shape.size());
  std::vector<std::int64_t> permutation;
  std::int64_t rows = 1;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim == axis) continue;
    permutation.push_back(static_cast<std::int64_t>(dim));
    rows *= shape[dim];
  }
  permutation.push_back(static_cast<std::int64_t>(axis));
  const auto matrix = reshape_to(builder, transpose_to(builder, x, std::move(permutation)), {rows, shape[axis]});
  const auto best = reshape_to(builder, builder.argmax_last(matrix), construct.tensor.type.shape);
  return builder.cast(best, construct.tensor.type.dtype);
}

}  // namespace dtj::lower
