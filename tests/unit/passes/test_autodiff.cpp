#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/passes/passes.hpp"
#include "tests/support/interpreter.hpp"
#include "tests/support/ir_text.hpp"

using namespace dtj;
using ir::Op;
using Values = std::vector<double>;

namespace {

ir::Graph differentiated(const std::string& body, passes::PassContext ctx = {}) {
  ir::Graph graph = test::graph_of(body);
  CHECK(passes::autodiff(graph, ctx));
  const auto status = ir::verify(graph);
  INFO((status ? std::string() : status.error().to_string()));
  REQUIRE(status.has_value());
  return graph;
}

/// loss = sum of op(x, y) over four params and four data values (or the other way round).
Values gradient_at(const std::string& op_line, const Values& x, const Values& y) {
  const ir::Graph graph = differentiated(
      "%0 = input(param, 0, \"x\") : f32[4]\n%1 = input(param, 1, \"y\") : f32[4]\n%2 = constant() {number = 0} : "
      "f32[4]\n" +
      op_line +
      "%8 = reduce_sum(%7) {ints = [0]} : f32[1]\n%9 = reshape(%8) : f32[]\noutput(metric, 0, \"loss\") = %9\n");
  return test::interpret(graph, {{{DType::f32, {4}}, x}, {{DType::f32, {4}}, y}})[1].values;
}

std::size_t count(const ir::Graph& graph, Op op) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes().begin(), graph.nodes().end(), [&](const ir::Node& n) { return n.op == op; }));
}

const std::string two_layers =
    "%0 = input(param, 0, \"w1\") : f32[3, 3]\n%1 = input(param, 1, \"w2\") : f32[3, 3]\n%2 = input(batch, 0, \"x\") : "
    "f32[2, 3]\n"
    "%3 = matmul(%2, %0) {ints = [0, 1]} : f32[2, 3]\n%4 = tanh(%3) : f32[2, 3]\n%5 = matmul(%4, %1) {ints = [0, 1]} : "
    "f32[2, 3]\n"
    "%6 = reduce_sum(%5) {ints = [0, 1]} : f32[1, 1]\n%7 = reshape(%6) : f32[]\noutput(metric, 0, \"loss\") = %7\n";

}  // namespace

TEST_CASE("autodiff: the gradients are outputs in f32, in order, with the parameter's name", "[unit][passes]") {
  const ir::Graph graph = differentiated(
      "%0 = input(param, 0, \"a\") : bf16[2]\n%1 = input(batch, 0, \"x\") : bf16[2]\n%2 = input(param, 1, \"unused\") "
      ": f32[3]\n"
      "%3 = mul(%0, %1) : bf16[2]\n%4 = cast(%3) : f32[2]\n%5 = reduce_sum(%4) {ints = [0]} : f32[1]\n%6 = reshape(%5) "
      ": f32[]\n"
      "output(metric, 0, \"loss\") = %6\n");
  REQUIRE(graph.outputs().size() == 3);
  CHECK(graph.outputs()[1].port == ir::Port::gradient);
  CHECK(graph.outputs()[1].name == "a");
  CHECK(graph.type(graph.outputs()[1].value) == ir::Type{DType::f32, {2}});
  CHECK(graph.outputs()[2].index == 1);
  const auto out = test::interpret(
      graph, {{{DType::bf16, {2}}, {1, 2}}, {{DType::bf16, {2}}, {3, 4}}, {{DType::f32, {3}}, {0, 0, 0}}});
  CHECK(out[1].values == Values{3, 4});
  CHECK(out[2].values == Values{0, 0, 0});
}

TEST_CASE("autodiff: gradients and metrics carry 1 / (gradient_accumulation dp)", "[unit][passes]") {
  passes::PassContext ctx;
  ctx.dp = 2;
  ctx.gradient_accumulation = 4;
  const ir::Graph graph = differentiated(
      "%0 = input(param, 0, \"a\") : f32[]\n%1 = mul(%0, %0) : f32[]\noutput(metric, 0, \"loss\") = %1\noutput(metric, "
      "1, \"a\") = %0\n",
      ctx);
  const auto out = test::interpret(graph, {{{DType::f32, {}}, {6}}});
  CHECK(out[0].values == Values{36.0 / 8});
  CHECK(out[1].values == Values{6.0 / 8});
  CHECK(out[2].values == Values{12.0 / 8});
}

TEST_CASE("autodiff: a loss without parameters gives zeros", "[unit][passes]") {
  const ir::Graph graph = differentiated(
      "%0 = input(param, 0, \"a\") : f32[2]\n%1 = input(batch, 0, \"x\") : f32[]\noutput(metric, 0, \"loss\") = %1\n");
  CHECK(test::interpret(graph, {{{DType::f32, {2}}, {1, 2}}, {{DType::f32, {}}, {5}}})[1].values == Values{0, 0});
}

TEST_CASE("autodiff: maximum with a constant has slope 0 at the constant, like relu", "[unit][passes]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(gradient_at("%7 = maximum(%0, %2) : f32[4]\n", {-1, 0, 2, -0.0}, {0, 0, 0, 0}) == Values{0, 0, 1, 0});
  CHECK(gradient_at("%7 = maximum(%2, %0) : f32[4]\n", {-1, 0, 2, nan}, {0, 0, 0, 0}) == Values{0, 0, 1, 1});
  CHECK(gradient_at("%7 = minimum(%0, %2) : f32[4]\n", {-1, 0, 2, 3}, {0, 0, 0, 0}) == Values{1, 0, 0, 0});
}

TEST_CASE("autodiff: equal operands of maximum share the gradient", "[unit][passes]") {
  CHECK(gradient_at("%7 = maximum(%0, %1) : f32[4]\n", {1, 2, 3, 4}, {1, 3, 2, 4}) == Values{0.5, 0, 1, 0.5});
  CHECK(gradient_at("%7 = minimum(%0, %1) : f32[4]\n", {1, 2, 3, 4}, {1, 3, 2, 4}) == Values{0.5, 1, 0, 0.5});
}

TEST_CASE("autodiff: equal maxima share the gradient", "[unit][passes]") {
  CHECK(gradient_at("%6 = reduce_max(%0) {ints = [0]} : f32[1]\n%7 = broadcast(%6) : f32[4]\n", {1, 5, 5, 2},
                    {0, 0, 0, 0}) == Values{0, 2, 2, 0});
}

TEST_CASE("autodiff: pow at zero gives finite gradients", "[unit][passes]") {
  CHECK(gradient_at("%7 = pow(%0, %1) : f32[4]\n", {0, 0, 2, 3}, {0, 2, 3, 0}) == Values{0, 0, 12, 0});
}

TEST_CASE("autodiff: backward follows forward and completes late layers first", "[unit][passes]") {
  const ir::Graph graph = differentiated(two_layers);
  const auto position = [&](std::size_t output) { return graph.value(graph.outputs()[output].value).producer->value; };
  CHECK(position(2) < position(1));
  CHECK(count(graph, Op::transpose) == 0);
  CHECK(count(graph, Op::matmul) == 5);  // nothing for the batch
}

TEST_CASE("autodiff: gradients of bf16 weights come out of the product in f32", "[unit][passes]") {
  const ir::Graph graph = differentiated(
      "%0 = input(param, 0, \"w\") : f32[3, 3]\n%1 = input(batch, 0, \"x\") : bf16[2, 3]\n%2 = cast(%0) : bf16[3, 3]\n"
      "%3 = matmul(%1, %2) {ints = [0, 1]} : bf16[2, 3]\n%4 = cast(%3) : f32[2, 3]\n%5 = reduce_sum(%4) {ints = [0, "
      "1]} : f32[1, 1]\n"
      "%6 = reshape(%5) : f32[]\noutput(metric, 0, \"loss\") = %6\n");
  const auto producer = graph.value(graph.outputs()[1].value).producer;
  REQUIRE(producer.has_value());
  const ir::Node& node = graph.node(*producer);
  CHECK(node.op == Op::matmul);
  CHECK(graph.type(node.operands[0]).dtype == DType::bf16);
  CHECK(graph.type(node.operands[1]).dtype == DType::bf16);
}

TEST_CASE("autodiff: gradients of bf16 biases are summed in f32", "[unit][passes]") {
  const ir::Graph graph = differentiated(
      "%0 = input(param, 0, \"b\") : f32[1, 3]\n%1 = input(batch, 0, \"x\") : bf16[2, 3]\n%2 = cast(%0) : bf16[1, 3]\n"
      "%3 = broadcast(%2) : bf16[2, 3]\n%4 = add(%1, %3) : bf16[2, 3]\n%5 = cast(%4) : f32[2, 3]\n"
      "%6 = reduce_sum(%5) {ints = [0, 1]} : f32[1, 1]\n%7 = reshape(%6) : f32[]\noutput(metric, 0, \"loss\") = %7\n");
  const ir::Node& node = graph.node(*graph.value(graph.outputs()[1].value).producer);
  CHECK(node.op == Op::reduce_sum);
  CHECK(graph.type(node.operands[0]) == ir::Type{DType::f32, {2, 3}});
}

TEST_CASE("autodiff: several uses are summed in their order", "[unit][passes]") {
  const ir::Graph graph = differentiated(
      "%0 = input(param, 0, \"w\") : f32[]\n%1 = exp(%0) : f32[]\n%2 = sin(%0) : f32[]\n%3 = mul(%0, %1) : f32[]\n%4 = "
      "add(%2, %3) : f32[]\n"
      "output(metric, 0, \"loss\") = %4\n");
  // ((through exp) + (through sin)) + (through mul)
  const ir::Node& outer = graph.node(*graph.value(graph.outputs()[1].value).producer);
  REQUIRE(outer.op == Op::add);
  const ir::Node& inner = graph.node(*graph.value(outer.operands[0]).producer);
  REQUIRE(inner.op == Op::add);
  const auto node_of = [&](ir::ValueId value) { return graph.node(*graph.value(value).producer); };
  CHECK(node_of(node_of(inner.operands[0]).operands[1]).op == Op::exp);
  CHECK(node_of(node_of(inner.operands[1]).operands[1]).op == Op::cos);
}

TEST_CASE("autodiff: backward nodes carry the range of their forward node", "[unit][passes]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {}}, ir::Port::param, 0, "x");
  b.at(source::Range::of({}, 4, 7));
  graph.add_output(b.unary(Op::sin, x), ir::Port::metric, 0, "loss");
  passes::autodiff(graph, {});
  const ir::Node& node = graph.node(*graph.value(graph.outputs()[1].value).producer);
  CHECK(node.op == Op::mul);
  CHECK(node.range.begin == 4);
}

TEST_CASE("autodiff: a frozen parameter has no gradient, and nothing is computed for it", "[unit][passes]") {
  const auto gradients_of = [](const std::vector<bool>& is_frozen) {
    passes::PassContext ctx;
    ctx.is_frozen = is_frozen;
    return differentiated(two_layers, ctx);
  };
  const ir::Graph first = gradients_of({true, false});
  REQUIRE(first.outputs().size() == 2);
  CHECK(first.outputs()[1].port == ir::Port::gradient);
  CHECK(first.outputs()[1].index == 1);
  CHECK(count(first, Op::matmul) == 3);  // forward, and the gradient of the second matrix
  const ir::Graph second = gradients_of({false, true});
  REQUIRE(second.outputs().size() == 2);
  CHECK(second.outputs()[1].index == 0);
  CHECK(count(second, Op::matmul) == 4);  // the gradient passes through the second matrix
  CHECK(gradients_of({true, true}).outputs().size() == 1);
}
