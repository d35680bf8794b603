#include <algorithm>

#include "compiler/passes/passes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/interpreter.hpp"
#include "tests/support/random_graph.hpp"

using namespace dtj;
using ir::Op;
using ir::ValueId;

namespace {

std::size_t count(const ir::Graph& graph, Op op) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes().begin(), graph.nodes().end(), [&](const ir::Node& node) { return node.op == op; }));
}

void check_same_values(const ir::Graph& before, const ir::Graph& after) {
  REQUIRE(ir::verify(after));
  const auto inputs = test::random_inputs(before, 3);
  const auto expected = test::interpret(before, inputs), found = test::interpret(after, inputs);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(found[i].type == expected[i].type);
    for (std::size_t k = 0; k < expected[i].values.size(); ++k)
      CHECK(found[i].values[k] == Approx(expected[i].values[k]).margin(1e-9));
  }
}

}  // namespace

TEST_CASE("layout: a normalised, pooled and windowed image moves once", "[unit][passes]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ValueId x_CBHW = graph.add_input({DType::f32, {3, 2, 6, 8}}, ir::Port::plain, 0, "x");
  const ValueId weight_C = graph.add_input({DType::f32, {3}}, ir::Port::plain, 1, "w");
  const ValueId x = b.transpose(x_CBHW, {1, 0, 2, 3});
  const Shape shape = graph.type(x).shape;
  const ValueId sum = b.reduce(Op::reduce_sum, x, {0, 2, 3});
  const ValueId mean_C = b.reshape(sum, {3});
  const ValueId centred = b.binary(Op::sub, x, b.broadcast(b.reshape(mean_C, {3, 1, 1}), shape));
  const ValueId scaled = b.binary(Op::mul, centred, b.broadcast(b.reshape(weight_C, {3, 1, 1}), shape));
  const ValueId relu = b.binary(Op::maximum, scaled, b.constant({DType::f32, shape}, 0));
  const ValueId pooled = b.windows(relu, {2, 2, 2, 3, 2, 2});
  const auto part = [&](std::int64_t i) {
    return b.reshape(b.slice(pooled, {0, 2, 0, 3, 0, 3, 0, 4, i, i + 1, 1, 2}), {2, 3, 3, 4});
  };
  const ValueId y = b.binary(Op::add, part(0), part(1));
  const ValueId padded = b.pad(y, {0, 0, 0, 0, 1, 1, 1, 1});
  graph.add_output(b.windows(padded, {2, 3, 1, 3, 3, 1}), ir::Port::plain, 0, "y");
  graph.add_output(mean_C, ir::Port::plain, 1, "mean");
  graph.add_output(b.concat({x, x}, 1), ir::Port::plain, 2, "twice");
  ir::Graph moved = graph;
  CHECK(passes::layout(moved, {}));
  check_same_values(graph, moved);
  passes::canonicalize(moved, {});
  check_same_values(graph, moved);
  // One at each large output; and the pool's own, which splits its rows and columns.
  CHECK(count(moved, Op::transpose) == 3);
}

TEST_CASE("layout: operands in different orders meet in the order of the job", "[unit][passes]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ValueId x = graph.add_input({DType::f32, {4, 5}}, ir::Port::plain, 0, "x");
  const ValueId y = graph.add_input({DType::f32, {5, 4}}, ir::Port::plain, 1, "y");
  const ValueId turned = b.transpose(x, {1, 0});
  graph.add_output(b.binary(Op::mul, turned, y), ir::Port::plain, 0, "product");
  graph.add_output(b.transpose(b.unary(Op::tanh, turned), {1, 0}), ir::Port::plain, 1, "back");
  graph.add_output(b.reshape(turned, {20}), ir::Port::plain, 2, "flat");
  ir::Graph moved = graph;
  passes::layout(moved, {});
  check_same_values(graph, moved);
  CHECK(count(moved, Op::transpose) == 1);
}

TEST_CASE("layout: a graph without transposes stays as it is", "[unit][passes]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ValueId x = graph.add_input({DType::f32, {4, 5}}, ir::Port::plain, 0, "x");
  graph.add_output(b.reduce(Op::reduce_sum, b.unary(Op::exp, x), {0}), ir::Port::plain, 0, "y");
  CHECK_FALSE(passes::layout(graph, {}));
}
