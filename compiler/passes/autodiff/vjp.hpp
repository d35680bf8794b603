#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.hpp"

// One vector-Jacobian product per op. Conventions where a derivative does not exist:
//   maximum, minimum   equal operands share the gradient in halves; if exactly one of them is a constant it takes all
//   of it, so that
//                      relu(0) = maximum(0, 0.0) has slope 0
//   reduce_max         equal maxima share the gradient evenly
//   abs                slope 0 at 0
//   pow(0, 0), pow(x, 0)  no gradient to x; none to the exponent where x = 0 and the exponent is not negative

namespace dtj::passes {

/// One node on the way back. `gradients` has one entry per result (none: the loss does not depend on it), of
/// gradient_dtype(result). The rule fills `contributions` for the operands in `needs`.
struct VjpCall {
  ir::Builder& build;
  ir::Node node;  ///< a copy: building moves the graph's nodes
  std::vector<std::optional<ir::ValueId>> gradients;
  std::vector<bool> needs;
  std::vector<std::optional<ir::ValueId>> contributions;

  ir::ValueId operand(std::size_t i) const { return node.operands[i]; }
  ir::ValueId result() const { return node.results[0]; }
  ir::ValueId gradient() const { return *gradients[0]; }
  const ir::Type& type(ir::ValueId value) const { return build.type(value); }
  ir::ValueId splat(ir::ValueId like, double number) { return build.constant(build.type(like), number); }
};

/// False: no gradient ever passes this op.
bool passes_gradient(ir::Op op);

/// What a value's gradient is kept in. Gradients of parameters are f32 (f64 for f64); what only casts or moves a
/// parameter is kept like it, so that the gradient of a bf16 weight is never rounded to bf16.
DType gradient_dtype(const ir::Graph& graph, ir::ValueId value);

void vjp(VjpCall& call);
void vjp_elementwise(VjpCall& call);  ///< unary and binary arithmetic, select, cast
void vjp_structure(VjpCall& call);    ///< reduce, movement, contraction, indexing, collective

}  // namespace dtj::passes
