#include <algorithm>

#include "compiler/lower/constructs.hpp"

namespace dtj::lower {

ir::ValueId reshape_to(ir::Builder& builder, ir::ValueId x, Shape shape) {
  return builder.type(x).shape == shape ? x : builder.reshape(x, std::move(shape));
}

ir::ValueId transpose_to(ir::Builder& builder, ir::ValueId x, std::vector<std::int64_t> permutation) {
  return std::is_sorted(permutation.begin(), permutation.end()) ? x : builder.transpose(x, std::move(permutation));
}

DType accumulator_of(DType dtype) {
  return dtype == DType::bf16 || dtype == DType::f16 ? DType::f32 : dtype;
}

ir::ValueId sum_away(ir::Builder& builder, ir::ValueId x, std::vector<std::int64_t> axes, DType dtype) {
  if (axes.empty()) return builder.cast(x, dtype);
  std::sort(axes.begin(), axes.end());
  Shape kept;
  const Shape shape = builder.type(x).shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis))) kept.push_back(shape[axis]);
  const auto wide = builder.cast(x, accumulator_of(builder.type(x).dtype));
  return builder.cast(reshape_to(builder, builder.reduce(ir::Op::reduce_sum, wide, std::move(axes)), kept), dtype);
}

}  // namespace dtj::lower
