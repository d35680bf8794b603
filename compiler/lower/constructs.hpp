#pragma once

#include <vector>

#include "compiler/check/trace.hpp"
#include "compiler/ir/graph.hpp"

// Inside of the room: one function per family of constructs, each in the file named like it.

namespace dtj::lower {

/// One operation of the trace and what is known when it is lowered.
struct Construct {
  const check::TracedTensor& tensor;
  std::vector<ir::ValueId> operands;
  const JobSpec& job;
};

ir::ValueId lower_elementwise(ir::Builder& builder, const Construct& construct);  // elementwise.cpp
ir::ValueId lower_where(ir::Builder& builder, const Construct& construct);
ir::ValueId lower_reduction(ir::Builder& builder, const Construct& construct);  // reductions.cpp
ir::ValueId lower_einsum(ir::Builder& builder, const Construct& construct);     // einsum.cpp
ir::ValueId lower_rearrange(ir::Builder& builder, const Construct& construct);  // rearrange.cpp
ir::ValueId lower_gather(ir::Builder& builder, const Construct& construct);     // indexing.cpp
ir::ValueId lower_random(ir::Builder& builder, const Construct& construct);     // ranks.cpp
ir::ValueId lower_all_mean(ir::Builder& builder, const Construct& construct);
ir::ValueId lower_argmax(ir::Builder& builder, const Construct& construct);

// ---- helpers that several constructs share (shapes.cpp)
// --------------------------------------------------------------

/// `x` itself if it has the shape.
ir::ValueId reshape_to(ir::Builder& builder, ir::ValueId x, Shape shape);
/// `x` itself if the permutation moves nothing.
ir::ValueId transpose_to(ir::Builder& builder, ir::ValueId x, std::vector<std::int64_t> permutation);
/// Sum over `axes`, which are removed from the shape; bf16 and f16 are summed in f32, and the result has `dtype`.
ir::ValueId sum_away(ir::Builder& builder, ir::ValueId x, std::vector<std::int64_t> axes, DType dtype);
/// Half-precision floats accumulate in f32, everything else in itself.
DType accumulator_of(DType dtype);

}  // namespace dtj::lower
