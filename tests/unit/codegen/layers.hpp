#pragma once

#include <string>
#include <utility>

#include "compiler/ir/graph.hpp"

namespace dtj::test {

/// Graphs of the layers of the standard library, as lowering makes them. Legend: B batch, T positions, C channels,
/// V classes.
class Layers {
 public:
  ir::Graph graph;
  ir::Builder build{graph};

  ir::ValueId input(ir::Port port, DType dtype, Shape shape) {
    std::uint32_t number = 0;
    for (const ir::Input& input : graph.inputs())
      if (input.port == port) ++number;
    return graph.add_input({dtype, std::move(shape)}, port, number, "");
  }
  ir::ValueId param(Shape shape) { return input(ir::Port::param, DType::f32, std::move(shape)); }
  ir::ValueId batch(DType dtype, Shape shape) { return input(ir::Port::batch, dtype, std::move(shape)); }
  void output(ir::Port port, ir::ValueId value) {
    std::uint32_t number = 0;
    for (const ir::Output& output : graph.outputs())
      if (output.port == port) ++number;
    graph.add_output(value, port, number, "");
  }

  ir::ValueId number(ir::ValueId like, double value) {
    return build.broadcast(build.constant({build.type(like).dtype, {}}, value), build.type(like).shape);
  }
  ir::ValueId apply(ir::Op op, ir::ValueId x) { return build.unary(op, x); }
  ir::ValueId apply(ir::Op op, ir::ValueId x, ir::ValueId y) {
    const Shape& shape =
        build.type(x).shape.size() >= build.type(y).shape.size() ? build.type(x).shape : build.type(y).shape;
    const Shape copy = shape;
    return build.binary(op, build.broadcast(x, copy), build.broadcast(y, copy));
  }
  ir::ValueId apply(ir::Op op, ir::ValueId x, double y) { return build.binary(op, x, number(x, y)); }
  ir::ValueId over_last(ir::Op op, ir::ValueId x) {
    return build.reduce(op, x, {static_cast<std::int64_t>(build.type(x).shape.size()) - 1});
  }
  ir::ValueId like(ir::ValueId x, ir::ValueId y) { return build.broadcast(x, build.type(y).shape); }
  ir::ValueId sum_all(ir::ValueId x) {
    std::vector<std::int64_t> axes;
    for (std::size_t axis = 0; axis < build.type(x).shape.size(); ++axis)
      axes.push_back(static_cast<std::int64_t>(axis));
    return build.reshape(build.reduce(ir::Op::reduce_sum, x, axes), {});
  }

  ir::ValueId layernorm(ir::ValueId x, ir::ValueId weight, ir::ValueId bias) {
    using ir::Op;
    const double c = static_cast<double>(build.type(x).shape.back());
    const ir::ValueId mean = apply(Op::mul, over_last(Op::reduce_sum, x), 1.0 / c);
    const ir::ValueId centred = apply(Op::sub, x, like(mean, x));
    const ir::ValueId variance = apply(Op::mul, over_last(Op::reduce_sum, apply(Op::mul, centred, centred)), 1.0 / c);
    const ir::ValueId scale = apply(Op::rsqrt, apply(Op::add, variance, 1e-5));
    return apply(Op::add, apply(Op::mul, apply(Op::mul, centred, like(scale, x)), weight), bias);
  }

  ir::ValueId softmax(ir::ValueId x) {
    using ir::Op;
    const ir::ValueId highest = apply(Op::stop_gradient, over_last(Op::reduce_max, x));
    const ir::ValueId e = apply(Op::exp, apply(Op::sub, x, like(highest, x)));
    return apply(Op::div, e, like(over_last(Op::reduce_sum, e), e));
  }

  ir::ValueId gelu(ir::ValueId x, bool is_exact) {
    using ir::Op;
    if (is_exact)
      return apply(Op::mul, apply(Op::mul, x, 0.5),
                   apply(Op::add, apply(Op::erf, apply(Op::mul, x, 0.7071067811865476)), 1.0));
    const ir::ValueId cube = apply(Op::mul, apply(Op::mul, apply(Op::mul, x, 0.044715), x), x);
    const ir::ValueId t = apply(Op::tanh, apply(Op::mul, apply(Op::add, x, cube), 0.7978845608028654));
    return apply(Op::mul, apply(Op::mul, x, 0.5), apply(Op::add, t, 1.0));
  }

  /// x[.., V], target i32[..]: the mean over the targets but -1.
  ir::ValueId cross_entropy(ir::ValueId x, ir::ValueId target) {
    using ir::Op;
    const Shape shape = build.type(x).shape;
    const Shape rows(shape.begin(), shape.end() - 1);
    Shape rows_1 = rows, ones(shape.size(), 1);
    rows_1.push_back(1);
    ones.back() = shape.back();
    const ir::ValueId shifted = apply(Op::sub, x, like(apply(Op::stop_gradient, over_last(Op::reduce_max, x)), x));
    const ir::ValueId log_sum = apply(Op::log, build.reshape(over_last(Op::reduce_sum, apply(Op::exp, shifted)), rows));
    const ir::ValueId index = build.broadcast(build.reshape(build.iota({DType::i32, {shape.back()}}, 0), ones), shape);
    const ir::ValueId is_target = build.binary(Op::eq, index, build.broadcast(build.reshape(target, rows_1), shape));
    const ir::ValueId picked =
        build.reshape(over_last(Op::reduce_sum, build.select(is_target, shifted, number(shifted, 0))), rows);
    const ir::ValueId counted = build.binary(Op::ne, target, number(target, -1));
    const ir::ValueId loss = build.select(counted, apply(Op::sub, log_sum, picked), number(picked, 0));
    const ir::ValueId count = sum_all(build.cast(counted, DType::f32));
    return build.binary(Op::div, sum_all(loss), apply(Op::maximum, count, 1.0));
  }
};

}  // namespace dtj::test
