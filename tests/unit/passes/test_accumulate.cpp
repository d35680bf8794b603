#include "compiler/passes/passes.hpp"
#include "tests/support/interpreter.hpp"
#include "tests/support/ir_text.hpp"

using namespace dtj;
using Values = std::vector<double>;

namespace {

const std::string body =
    "%0 = input(param, 0, \"w\") : f32[2]\n%1 = neg(%0) : f32[2]\n%2 = constant() {number = 3} : f32[]\n%3 = exp(%2) : "
    "f32[]\n"
    "output(metric, 0, \"loss\") = %2\noutput(gradient, 0, \"w\") = %1\noutput(state, 0, \"s\") = %0\n";

}  // namespace

TEST_CASE("accumulate: adds what earlier micro batches left", "[unit][passes]") {
  ir::Graph graph = test::graph_of(body);
  passes::PassContext ctx;
  ctx.accumulate_into = true;
  CHECK(passes::accumulate(graph, ctx));
  REQUIRE(ir::verify(graph).has_value());
  REQUIRE(graph.inputs().size() == 3);
  CHECK(graph.inputs()[1].port == ir::Port::metric);
  CHECK(graph.inputs()[2].port == ir::Port::gradient);
  CHECK(graph.inputs()[2].name == "w");
  const auto out =
      test::interpret(graph, {{{DType::f32, {2}}, {1, 2}}, {{DType::f32, {}}, {10}}, {{DType::f32, {2}}, {100, 200}}});
  CHECK(out[0].values == Values{13});
  CHECK(out[1].values == Values{99, 198});
  CHECK(out[2].values == Values{1, 2});
}

TEST_CASE("accumulate: the sum stands right behind its summand", "[unit][passes]") {
  ir::Graph graph = test::graph_of(body);
  passes::PassContext ctx;
  ctx.accumulate_into = true;
  passes::accumulate(graph, ctx);
  REQUIRE(graph.nodes().size() == 5);
  CHECK(graph.nodes()[0].op == ir::Op::neg);
  CHECK(graph.nodes()[1].op == ir::Op::add);
  CHECK(graph.nodes()[3].op == ir::Op::add);
}

TEST_CASE("accumulate: a gradient that is an input is added too", "[unit][passes]") {
  ir::Graph graph = test::graph_of("%0 = input(param, 0, \"w\") : f32[]\noutput(gradient, 0, \"w\") = %0\n");
  passes::PassContext ctx;
  ctx.accumulate_into = true;
  passes::accumulate(graph, ctx);
  CHECK(test::interpret(graph, {{{DType::f32, {}}, {1}}, {{DType::f32, {}}, {2}}})[0].values == Values{3});
}

TEST_CASE("accumulate: without accumulate_into nothing changes", "[unit][passes]") {
  ir::Graph graph = test::graph_of(body);
  const auto before = ir::structural_hash(graph);
  CHECK_FALSE(passes::accumulate(graph, {}));
  CHECK(ir::structural_hash(graph) == before);
}
