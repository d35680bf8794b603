#include "compiler/passes/passes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/codegen/jit_runner.hpp"
#include "tests/unit/codegen/layers.hpp"

// Whole layers forward and backward: what becomes of them, and that the numbers are right.

using namespace dtj;
using namespace dtj::test;
using ir::Op;
using ir::Port;
using ir::ValueId;

namespace {

/// All passes of a training step before fusion.
ir::Graph with_gradients(ir::Graph graph) {
  passes::RunOptions options;
  options.stop_after = "parallel";
  const Status status = passes::run(graph, passes::Pipeline::train_micro, {}, options);
  INFO((status ? std::string() : status.error().to_string()));
  REQUIRE(status.has_value());
  return graph;
}

/// The loss is the sum of y * random numbers.
void weigh(Layers& l, ValueId y) {
  const ValueId weights = l.batch(DType::f32, l.build.type(y).shape);
  l.output(Port::metric, l.sum_all(l.apply(Op::mul, y, weights)));
}

std::vector<Tensor> targets_in(const ir::Graph& graph, std::vector<Tensor> inputs, std::int64_t classes) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (graph.type(graph.inputs()[i].value).dtype == DType::i32)
      for (std::size_t k = 0; k < inputs[i].values.size(); ++k)
        inputs[i].values[k] = static_cast<double>(static_cast<std::int64_t>(k * 7 + 3) % (classes + 1)) - 1;
  return inputs;
}

const std::vector<Shape> shapes = {{2, 3, 16}, {1, 1, 1}, {3, 2, 7}, {0, 2, 5}, {2, 5, 33}, {4, 1, 130}};

}  // namespace

TEST_CASE("layernorm: one kernel forward, right numbers both ways", "[unit][codegen]") {
  for (const Shape& shape : shapes) {
    Layers l;
    const ValueId y = l.layernorm(l.param(shape), l.param({shape.back()}), l.param({shape.back()}));
    ir::Graph forward = l.graph;
    forward.add_output(y, Port::plain, 0, "y");
    if (shape.back() > 1) CHECK(count_fused(fuse(forward)) == 1);
    CHECK(check_against_interpreter(forward, random_inputs(forward, 1)) <= 1e-5);
    weigh(l, y);
    const ir::Graph both = with_gradients(l.graph);
    CHECK(check_against_interpreter(both, random_inputs(both, 1)) <= 1e-5);
  }
}

TEST_CASE("layernorm: backward is one row kernel and one column kernel", "[unit][codegen]") {
  Layers l;
  const Shape shape{2, 3, 16};
  const ValueId y = l.layernorm(l.param(shape), l.param({16}), l.param({16}));
  weigh(l, y);
  const ir::Graph fused = fuse(with_gradients(l.graph));
  INFO(ir::print(fused));
  CHECK(count_fused(fused, "column") == 1);
  CHECK(count_fused(fused, "row") <= 3);
}

TEST_CASE("softmax: one kernel forward, right numbers both ways", "[unit][codegen]") {
  for (const Shape& shape : shapes) {
    Layers l;
    const ValueId y = l.softmax(l.param(shape));
    ir::Graph forward = l.graph;
    forward.add_output(y, Port::plain, 0, "y");
    passes::strip_stop_gradient(forward, {});
    if (shape.back() > 1) CHECK(count_fused(fuse(forward)) == 1);
    CHECK(check_against_interpreter(forward, random_inputs(forward, 2)) <= 1e-5);
    weigh(l, y);
    const ir::Graph both = with_gradients(l.graph);
    CHECK(check_against_interpreter(both, random_inputs(both, 2)) <= 1e-5);
  }
}

TEST_CASE("cross_entropy: right numbers both ways", "[unit][codegen]") {
  for (const Shape& shape : shapes) {
    Layers l;
    const ValueId x = l.param(shape);
    l.output(Port::metric, l.cross_entropy(x, l.batch(DType::i32, {shape[0], shape[1]})));
    const ir::Graph both = with_gradients(l.graph);
    INFO(ir::print(fuse(both)));
    CHECK(check_against_interpreter(both, targets_in(both, random_inputs(both, 3), shape.back())) <= 1e-5);
  }
}

TEST_CASE("cross_entropy: the rows are read by two kernels, forward and backward", "[unit][codegen]") {
  Layers l;
  const ValueId x = l.param({4, 6, 50});
  l.output(Port::metric, l.cross_entropy(x, l.batch(DType::i32, {4, 6})));
  const ir::Graph fused = fuse(with_gradients(l.graph));
  INFO(ir::print(fused));
  int readers = 0;
  for (const ir::Node& node : fused.nodes())
    if (node.op == Op::fused && std::count(node.operands.begin(), node.operands.end(), fused.inputs()[0].value) > 0)
      ++readers;
  CHECK(readers <= 2);
}

TEST_CASE("gelu: right numbers both ways", "[unit][codegen]") {
  for (const bool is_exact : {true, false})
    for (const Shape& shape : shapes) {
      Layers l;
      const ValueId x = l.apply(Op::add, l.param(shape), l.param({shape.back()}));
      weigh(l, l.gelu(x, is_exact));
      const ir::Graph both = with_gradients(l.graph);
      CHECK(check_against_interpreter(both, random_inputs(both, 4)) <= 1e-5);
    }
}

TEST_CASE("attention weights: scale, mask and softmax are one kernel", "[unit][codegen]") {
  Layers l;
  const Shape shape{2, 2, 9, 9};
  const ValueId q = l.param({2, 2, 9, 4});
  const ValueId k = l.param({2, 2, 9, 4});
  const ValueId scores = l.apply(Op::mul, l.build.matmul(q, k, false, true, DType::f32), 0.5);
  const ValueId rows = l.build.broadcast(l.build.reshape(l.build.iota({DType::i32, {9}}, 0), {9, 1}), {9, 9});
  const ValueId columns = l.build.broadcast(l.build.reshape(l.build.iota({DType::i32, {9}}, 0), {1, 9}), {9, 9});
  const ValueId visible = l.build.broadcast(l.build.binary(Op::ge, rows, columns), shape);
  const ValueId y = l.softmax(l.build.select(visible, scores, l.number(scores, -1e30)));
  ir::Graph forward = l.graph;
  forward.add_output(y, Port::plain, 0, "y");
  passes::strip_stop_gradient(forward, {});
  CHECK(count_fused(fuse(forward)) == 1);
  weigh(l, l.build.matmul(y, l.param({2, 2, 9, 4}), false, false, DType::f32));
  const ir::Graph both = with_gradients(l.graph);
  CHECK(check_against_interpreter(both, random_inputs(both, 5)) <= 1e-5);
}

TEST_CASE("adamw: clipping, schedule and update", "[unit][codegen]") {
  for (const Shape& shape : std::vector<Shape>{{5}, {6, 40}, {300, 200}}) {
    Layers l;
    const ValueId p = l.param(shape);
    const ValueId g = l.input(Port::gradient, DType::f32, shape);
    const ValueId m = l.input(Port::state, DType::f32, shape);
    const ValueId v = l.input(Port::state, DType::f32, shape);
    const ValueId step = l.input(Port::step, DType::f64, {});
    const ValueId norm = l.apply(Op::sqrt, l.sum_all(l.apply(Op::mul, g, g)));
    const ValueId clip = l.apply(Op::minimum, l.build.binary(Op::div, l.number(norm, 1.0), norm), 1.0);
    const ValueId gc = l.apply(Op::mul, g, l.build.broadcast(clip, shape));
    const ValueId m1 = l.apply(Op::add, l.apply(Op::mul, m, 0.9), l.apply(Op::mul, gc, 0.1));
    const ValueId v1 = l.apply(Op::add, l.apply(Op::mul, v, 0.99), l.apply(Op::mul, l.apply(Op::mul, gc, gc), 0.01));
    const ValueId next = l.apply(Op::add, step, 1.0);
    const auto correction = [&](double beta) {
      return l.apply(Op::sub, l.number(next, 1.0), l.build.binary(Op::pow, l.number(next, beta), next));
    };
    const ValueId rate = l.build.cast(l.build.binary(Op::div, l.number(next, 1e-3), correction(0.9)), DType::f32);
    const ValueId scale = l.build.cast(l.apply(Op::rsqrt, correction(0.99)), DType::f32);
    const ValueId root = l.apply(Op::sqrt, l.apply(Op::abs, v1));
    const ValueId under = l.apply(Op::add, l.apply(Op::mul, root, l.build.broadcast(scale, shape)), 1e-8);
    const ValueId change = l.build.binary(Op::div, l.apply(Op::mul, m1, l.build.broadcast(rate, shape)), under);
    l.output(Port::param, l.apply(Op::sub, l.apply(Op::mul, p, 0.999), change));
    l.output(Port::state, m1);
    l.output(Port::state, v1);
    l.output(Port::gradient_norm, norm);
    const std::vector<Tensor> inputs = random_inputs(l.graph, 6);
    CHECK(check_against_interpreter(l.graph, inputs) <= 1e-5);
    CHECK(count_fused(fuse(l.graph)) <= 4);
  }
}

TEST_CASE("batch statistics over outer and inner dims agree with the interpreter", "[unit][codegen]") {
  Layers l;
  const Shape shape{3, 4, 5, 6};
  const ValueId x = l.param(shape);
  const ValueId mean = l.apply(Op::mul, l.build.reduce(Op::reduce_sum, x, {0, 2, 3}), 1.0 / 90);
  const ValueId centred = l.apply(Op::sub, x, l.like(mean, x));
  const ValueId variance = l.build.reduce(Op::reduce_sum, l.apply(Op::mul, centred, centred), {0, 2, 3});
  weigh(l, l.apply(Op::mul, centred, l.like(l.apply(Op::rsqrt, l.apply(Op::add, variance, 1e-3)), x)));
  const ir::Graph both = with_gradients(l.graph);
  CHECK(check_against_interpreter(both, random_inputs(both, 7)) <= 1e-5);
}

TEST_CASE("in place: a sum reads an operand before a result overwrites it", "[unit][codegen]") {
  Layers l;
  const ValueId a = l.param({5, 37});
  const ValueId negated = l.apply(Op::neg, a);
  const ValueId result = l.apply(Op::mul, l.param({5, 37}), 2.0);
  l.output(Port::plain, result);
  l.output(Port::plain, l.over_last(Op::reduce_sum, l.apply(Op::mul, negated, result)));
  const ir::Graph fused = fuse(l.graph);
  REQUIRE(count_fused(fused) == 1);
  CHECK(fused.nodes()[0].operands[0] == fused.inputs()[0].value);
  CHECK(check_against_interpreter(l.graph, random_inputs(l.graph, 8)) <= 1e-5);
}
