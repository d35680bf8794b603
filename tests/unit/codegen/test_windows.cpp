#include <string>

#include "compiler/passes/passes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/codegen/jit_runner.hpp"

// Windows and their reverse, alone and in the way that layers use them. Legend: C channels, B batch, H rows, W columns.

using namespace dtj;
using namespace dtj::test;
using ir::Op;
using ir::ValueId;

namespace {

struct Case {
  Shape shape;
  std::vector<std::int64_t> triples;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{19}, {0, 3, 1}},
      {{19}, {0, 4, 3}},
      {{20}, {0, 2, 2}},
      {{20}, {0, 1, 2}},
      {{2, 3, 9, 28}, {2, 3, 1, 3, 3, 1}},
      {{2, 3, 9, 28}, {2, 3, 2, 3, 3, 2}},
      {{2, 3, 9, 28}, {2, 2, 2, 3, 2, 2}},
      {{2, 3, 8, 7}, {2, 3, 2, 3, 2, 1}},
      {{2, 3, 8, 33}, {2, 1, 2, 3, 1, 2}},
      {{3, 5, 4}, {0, 2, 1}},
      {{1, 1, 5, 5}, {2, 5, 1, 3, 5, 1}},
  };
  return all;
}

std::vector<std::int64_t> with_extents(const Case& c) {
  std::vector<std::int64_t> quadruples;
  for (std::size_t i = 0; i < c.triples.size(); i += 3)
    quadruples.insert(quadruples.end(), {c.triples[i], c.triples[i + 1], c.triples[i + 2],
                                         c.shape[static_cast<std::size_t>(c.triples[i])]});
  return quadruples;
}

ValueId input(ir::Graph& graph, DType dtype, Shape shape) {
  const auto number = static_cast<std::uint32_t>(graph.inputs().size());
  return graph.add_input({dtype, std::move(shape)}, ir::Port::plain, number, "x" + std::to_string(number));
}

void output(ir::Graph& graph, ValueId value) {
  graph.add_output(value, ir::Port::plain, static_cast<std::uint32_t>(graph.outputs().size()), "");
}

}  // namespace

TEST_CASE("windows: agree with the interpreter", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  for (const DType dtype : {DType::f32, DType::i32})
    for (const Case& c : cases()) output(graph, build.windows(input(graph, dtype, c.shape), c.triples));
  CHECK(check_against_interpreter(graph, random_inputs(graph, 1)) == 0);
}

TEST_CASE("windows: those that only touch become a reshape and a transpose", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  for (const Case& c : cases()) output(graph, build.windows(input(graph, DType::f32, c.shape), c.triples));
  const auto inputs = random_inputs(graph, 2);
  const auto expected = interpret(graph, inputs);
  passes::canonicalize(graph, {});
  std::size_t num_left = 0;
  for (const ir::Node& node : graph.nodes()) num_left += node.op == Op::windows ? 1 : 0;
  CHECK(num_left == cases().size() - 2);
  const auto found = interpret(graph, inputs);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].values == expected[i].values);
}

TEST_CASE("fold: agrees with the interpreter", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Case& c : cases()) {
      ir::Graph probe;
      ir::Builder shapes(probe);
      const Shape windows = probe.type(shapes.windows(input(probe, DType::f32, c.shape), c.triples)).shape;
      output(graph, build.cast(build.fold(input(graph, dtype, windows), with_extents(c)), DType::f32));
    }
  CHECK(check_against_interpreter(graph, random_inputs(graph, 3)) <= 1e-2);  // bf16 rounds once
}

TEST_CASE("windows: of a padded image, in the order of a matrix product", "[unit][codegen]") {
  for (const std::int64_t stride : {1, 2}) {
    ir::Graph graph;
    ir::Builder build(graph);
    const ValueId x_CBHW = input(graph, DType::f32, {3, 2, 6, 28});
    const ValueId bias = input(graph, DType::f32, {3, 1, 1, 1});
    const ValueId shifted = build.binary(Op::add, x_CBHW, build.broadcast(bias, {3, 2, 6, 28}));
    const ValueId padded = build.pad(shifted, {0, 0, 0, 0, 1, 1, 1, 1});
    const ValueId windows = build.windows(padded, {2, 3, stride, 3, 3, stride});
    output(graph, build.transpose(windows, {0, 4, 5, 1, 2, 3}));
    const Shape shape = graph.type(windows).shape;
    const ValueId gradient = input(graph, DType::f32, {3, 3, 3, shape[1], shape[2], shape[3]});
    const ValueId folded =
        build.fold(build.transpose(gradient, {0, 3, 4, 5, 1, 2}), {2, 3, stride, 8, 3, 3, stride, 30});
    output(graph, build.binary(Op::mul, shifted, build.slice(folded, {0, 3, 0, 2, 1, 7, 1, 29})));
    CHECK(check_against_interpreter(graph, random_inputs(graph, 4)) <= 1e-5);
  }
}

TEST_CASE("windows: the parts of a pool and their gradient", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  const ValueId x = input(graph, DType::f32, {2, 3, 8, 28});
  const ValueId windows = build.windows(x, {2, 2, 2, 3, 2, 2});
  const auto part = [&](std::int64_t i, std::int64_t j) {
    return build.reshape(build.slice(windows, {0, 2, 0, 3, 0, 4, 0, 14, i, i + 1, j, j + 1}), {2, 3, 4, 14});
  };
  ValueId largest = part(0, 0);
  for (int k = 1; k < 4; ++k) {
    const ValueId other = part(k / 2, k % 2);
    largest = build.select(build.binary(Op::gt, other, largest), other, largest);
  }
  output(graph, largest);
  const ValueId g = input(graph, DType::f32, {2, 3, 4, 14, 1, 1});
  ValueId sum = build.pad(g, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1});
  sum = build.binary(Op::add, sum, build.pad(build.unary(Op::neg, g), {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1}));
  output(graph, build.fold(sum, {2, 2, 2, 8, 3, 2, 2, 28}));
  CHECK(check_against_interpreter(graph, random_inputs(graph, 5)) <= 1e-6);
}

TEST_CASE("random: every element is the word of its counter", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 37}, Shape{5, 2, 16}}) {
    const ir::Type type{DType::i64, shape};
    ValueId counter = build.broadcast(input(graph, DType::i64, {}), shape);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const ValueId step = build.constant(type, 4294967296.0 / 3);
      counter = build.binary(
          Op::add, counter, build.binary(Op::mul, build.iota(type, static_cast<std::int64_t>(axis)), step));
    }
    output(graph, build.random(counter, 0x123456789abcdef0, -77));
  }
  CHECK(check_against_interpreter(graph, random_inputs(graph, 6)) == 0);
}
