#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.hpp"

// The rules of canonicalize. Each looks at one node whose operands are already simple and gives a simpler value that
// has the same bits (but for the sign of a zero), or none. No rule changes the order of an addition.

namespace dtj::passes {

/// A node that is about to be added to `build.graph()`.
struct Site {
  ir::Builder& build;
  ir::Op op;
  const std::vector<ir::ValueId>& operands;
  const ir::Attrs& attrs;
  const ir::Type& type;  ///< of its one result

  ir::ValueId operand(std::size_t i) const { return operands[i]; }
  const ir::Type& operand_type(std::size_t i) const { return build.type(operands[i]); }
  /// The node behind a value; null for an input. Valid until the next node is built.
  const ir::Node* producer(ir::ValueId value) const;
  /// The same if it is an `op`.
  const ir::Node* producer(ir::ValueId value, ir::Op op) const;
  /// The number of a constant, rounded to its dtype.
  std::optional<double> splat(ir::ValueId value) const;
};

std::optional<ir::ValueId> simplify_arithmetic(const Site& site);
std::optional<ir::ValueId> simplify_movement(const Site& site);  ///< and reductions that move
/// pad(a) + pad(b) with a right before b, as the gradients of slices are summed: pad(concat(a, b)).
std::optional<ir::ValueId> simplify_sum_of_pads(const Site& site);

/// An element-wise op of numbers of dtype `operand` with a result of dtype `result`, rounded like the kernels; none
/// where the result is not defined (integer division by zero, a float outside the integers).
std::optional<double> fold(ir::Op op, const std::vector<double>& x, DType operand, DType result);

/// `value` as `dtype` holds it; none for an integer out of range.
std::optional<double> round_to(DType dtype, double value);

}  // namespace dtj::passes
