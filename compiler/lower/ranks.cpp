#include "compiler/lower/constructs.hpp"
#include "engine/base/hash.hpp"

namespace dtj::lower {

// Element i of sample s has the counter s * (elements per sample) + i: which rank and which micro batch hold the sample
// decides nothing.
ir::ValueId lower_random(ir::Builder& builder, const Construct& construct) {
  const Shape& shape = construct.tensor.type.shape;
  const ir::Type type{DType::i64, shape};
  const auto per_sample = static_cast<double>(num_elements(shape) / construct.tensor.ints.at(0));
  const auto sample = builder.broadcast(construct.operands.at(0), shape);
  auto counter = builder.binary(ir::Op::mul, sample, builder.constant(type, per_sample));
  const std::vector<std::int64_t> strides = contiguous_strides(shape);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto index = builder.iota(type, static_cast<std::int64_t>(axis));
    const auto stride = builder.constant(type, static_cast<double>(strides[axis]));
    counter = builder.binary(ir::Op::add, counter, builder.binary(ir::Op::mul, index, stride));
  }
  return builder.random(counter, static_cast<std::int64_t>(construct.job.seed),
                        static_cast<std::int64_t>(hash64(construct.tensor.text)));
}

ir::ValueId lower_all_mean(ir::Builder& builder, const Construct& construct) {
  const auto x = construct.operands.at(0);
  const std::int64_t dp = construct.job.mesh.dp;
  if (dp == 1) return x;
  const auto sum = builder.all_reduce({x}, "dp", 0).front();
  return builder.binary(ir::Op::mul, sum, builder.constant(builder.type(sum), 1.0 / static_cast<double>(dp)));
}

}  // namespace dtj::lower
