#include "tests/support/catch.hpp"
#include "tests/support/ir_text.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/codegen/jit_runner.hpp"
#include "tests/unit/codegen/layers.hpp"

using namespace dtj;
using namespace dtj::test;
using ir::Op;
using ir::Port;
using ir::ValueId;

TEST_CASE("fusion: a chain between two products is one region", "[unit][codegen]") {
  Layers l;
  const ValueId x = l.param({8, 16});
  const ValueId h = l.build.matmul(x, l.param({16, 16}), false, true, DType::f32);
  const ValueId a = l.gelu(l.apply(Op::add, h, l.param({16})), false);
  l.output(Port::plain, l.apply(Op::add, l.build.matmul(a, l.param({16, 16}), false, true, DType::f32), x));
  CHECK(count_fused(fuse(l.graph)) == 2);
}

TEST_CASE("fusion: a region never waits for itself", "[unit][codegen]") {
  // x feeds both the product and the sum after it: all element-wise nodes in one region would be a cycle.
  Layers l;
  const ValueId x = l.apply(Op::exp, l.param({8, 8}));
  const ValueId y = l.build.matmul(x, x, false, false, DType::f32);
  l.output(Port::plain, l.apply(Op::add, l.apply(Op::tanh, y), x));
  const ir::Graph fused = fuse(l.graph);
  CHECK(count_fused(fused) == 2);
  CHECK(check_against_interpreter(l.graph, random_inputs(l.graph, 1)) <= 1e-5);
}

TEST_CASE("fusion: an expensive value is computed once, a cheap one again", "[unit][codegen]") {
  for (const bool is_expensive : {true, false}) {
    Layers l;
    const ValueId x = l.param({8, 8});
    const ValueId w = l.param({8, 8});
    const ValueId first = l.build.matmul(x, w, false, false, DType::f32);
    const ValueId value = is_expensive ? l.apply(Op::exp, l.apply(Op::tanh, first)) : l.apply(Op::mul, first, 2.0);
    l.output(Port::plain, l.build.matmul(l.apply(Op::sqrt, l.apply(Op::abs, value)), w, false, false, DType::f32));
    const ValueId second = l.build.matmul(l.build.matmul(x, x, false, false, DType::f32), w, false, false, DType::f32);
    // Not in the region of `value`, because it waits for a product that waits for that region.
    const ValueId late = l.build.matmul(l.graph.outputs()[0].value, second, false, false, DType::f32);
    l.output(Port::plain, l.apply(Op::add, late, value));
    const ir::Graph fused = fuse(l.graph);
    std::size_t results = 0;
    for (const ir::Node& node : fused.nodes())
      if (node.op == Op::fused) results += node.results.size();
    CHECK(results == (is_expensive ? 3U : 2U));
    CHECK(check_against_interpreter(l.graph, random_inputs(l.graph, 1)) <= 1e-5);
  }
}

TEST_CASE("fusion: bias and weight gradients of one layer share a column region", "[unit][codegen]") {
  Layers l;
  const ValueId x = l.param({40, 16});
  const ValueId g = l.param({40, 16});
  l.output(Port::plain, l.build.reduce(Op::reduce_sum, g, {0}));
  l.output(Port::plain, l.build.reduce(Op::reduce_sum, l.apply(Op::mul, g, x), {0}));
  const ir::Graph fused = fuse(l.graph);
  CHECK(count_fused(fused) == 1);
  CHECK(count_fused(fused, "column") == 1);
}

TEST_CASE("fusion: a large sum to one number has rows to share out", "[unit][codegen]") {
  Layers l;
  const ValueId x = l.param({512, 256});
  l.output(Port::plain, l.sum_all(l.apply(Op::mul, x, x)));
  const ir::Graph fused = fuse(l.graph);
  CHECK(count_fused(fused, "row") == 2);
  CHECK(fused.type(fused.nodes()[0].results[0]).shape == Shape{512, 1});
  CHECK(check_against_interpreter(l.graph, random_inputs(l.graph, 1)) <= 1e-6);
}

TEST_CASE("fusion: leaves are copied into every region that uses them", "[unit][codegen]") {
  Layers l;
  const ValueId half = l.build.constant({DType::f32, {6, 6}}, 0.5);
  const ValueId x = l.param({6, 6});
  const ValueId y = l.build.binary(Op::mul, x, half);
  l.output(Port::plain, l.build.binary(Op::mul, l.build.matmul(y, y, false, false, DType::f32), half));
  const ir::Graph fused = fuse(l.graph);
  CHECK(count_fused(fused) == 2);
  for (const ir::Node& node : fused.nodes())
    if (node.op == Op::fused) CHECK(node.operands.size() == 1);
}

TEST_CASE("fusion: an output that is a leaf, an input or a movement", "[unit][codegen]") {
  Layers l;
  const ValueId x = l.param({3, 4});
  l.output(Port::plain, l.build.constant({DType::f32, {2}}, 7));
  l.output(Port::plain, x);
  l.output(Port::plain, l.build.reshape(l.build.transpose(x, {1, 0}), {2, 6}));
  l.output(Port::plain, l.build.broadcast(l.build.reshape(x, {3, 1, 4}), {3, 2, 4}));
  CHECK(check_against_interpreter(l.graph, random_inputs(l.graph, 1)) == 0);
}

TEST_CASE("fusion: a graph without work for it is left alone", "[unit][codegen]") {
  Layers l;
  const ValueId x = l.param({3, 3});
  l.output(Port::plain, l.build.matmul(x, x, false, false, DType::f32));
  const ir::Graph fused = fuse(l.graph);
  CHECK(ir::structural_hash(fused) == ir::structural_hash(l.graph));
}
