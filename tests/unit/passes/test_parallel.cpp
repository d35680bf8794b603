#include "compiler/passes/passes.hpp"
#include "tests/support/interpreter.hpp"
#include "tests/support/ir_text.hpp"

using namespace dtj;
using ir::Op;

namespace {

/// Gradients of 4, 8 and 4 bytes, complete in the order 2, 0, 1, and a loss that is complete before them.
ir::Graph three_gradients() {
  return test::graph_of(
      "%0 = input(param, 0, \"a\") : f32[1]\n%1 = input(param, 1, \"b\") : f32[2]\n%2 = input(param, 2, \"c\") : "
      "f32[1]\n"
      "%3 = constant() {number = 1} : f32[]\n%4 = exp(%2) : f32[1]\n%5 = exp(%0) : f32[1]\n%6 = exp(%1) : f32[2]\n%7 = "
      "log(%1) : f32[2]\n"
      "output(metric, 0, \"loss\") = %3\noutput(gradient, 0, \"a\") = %5\noutput(gradient, 1, \"b\") = "
      "%6\noutput(gradient, 2, \"c\") = %4\n");
}

passes::PassContext reducing(std::int64_t bucket_bytes) {
  passes::PassContext ctx;
  ctx.reduce_gradients = true;
  ctx.bucket_bytes = bucket_bytes;
  return ctx;
}

std::vector<ir::Node> collectives(const ir::Graph& graph) {
  std::vector<ir::Node> out;
  for (const ir::Node& node : graph.nodes())
    if (node.op == Op::all_reduce) out.push_back(node);
  return out;
}

}  // namespace

TEST_CASE("parallel: buckets fill in the order of completion, metrics have their own", "[unit][passes]") {
  ir::Graph graph = three_gradients();
  CHECK(passes::parallel(graph, reducing(8)));
  REQUIRE(ir::verify(graph).has_value());
  const auto nodes = collectives(graph);
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0].attrs.ints == std::vector<std::int64_t>{2});  // the metrics
  CHECK(graph.type(nodes[0].results[0]).shape.empty());
  CHECK(nodes[1].attrs.ints == std::vector<std::int64_t>{0});
  CHECK(nodes[1].operands.size() == 2);  // c and a
  CHECK(nodes[2].operands.size() == 1);  // b
  CHECK(nodes[2].attrs.text == "dp");
}

TEST_CASE("parallel: a collective stands right behind its last producer", "[unit][passes]") {
  ir::Graph graph = three_gradients();
  passes::parallel(graph, reducing(8));
  const std::vector<Op> expected = {Op::constant,   Op::all_reduce, Op::exp,        Op::exp,
                                    Op::all_reduce, Op::exp,        Op::all_reduce, Op::log};
  REQUIRE(graph.nodes().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(graph.nodes()[i].op == expected[i]);
}

TEST_CASE("parallel: every gradient and metric is the sum over the ranks", "[unit][passes]") {
  ir::Graph graph = three_gradients();
  const std::vector<test::Tensor> inputs = {
      {{DType::f32, {1}}, {1}}, {{DType::f32, {2}}, {2, 3}}, {{DType::f32, {1}}, {4}}};
  const auto single = test::interpret(graph, inputs);
  passes::parallel(graph, reducing(4 << 20));
  CHECK(collectives(graph).size() == 2);
  const auto summed = test::interpret(graph, inputs, {test::Numerics::f64, 3});
  for (std::size_t i = 0; i < single.size(); ++i)
    for (std::size_t k = 0; k < single[i].values.size(); ++k) CHECK(summed[i].values[k] == 3 * single[i].values[k]);
}

TEST_CASE("parallel: gradients that are one value stay two operands", "[unit][passes]") {
  ir::Graph graph = test::graph_of(
      "%0 = input(param, 0, \"a\") : f32[1]\n%1 = exp(%0) : f32[1]\noutput(gradient, 0, \"a\") = %1\noutput(gradient, "
      "1, \"b\") = %1\n");
  passes::parallel(graph, reducing(1024));
  const auto nodes = collectives(graph);
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].operands.size() == 2);
  CHECK(graph.outputs()[0].value != graph.outputs()[1].value);
}

TEST_CASE("parallel: without reduce_gradients nothing changes", "[unit][passes]") {
  ir::Graph graph = three_gradients();
  passes::PassContext ctx;
  ctx.dp = 2;
  CHECK_FALSE(passes::parallel(graph, ctx));
  CHECK(collectives(graph).empty());
}
