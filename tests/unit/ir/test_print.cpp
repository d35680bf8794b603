#include "tests/support/ir_text.hpp"
#include "tests/support/random_graph.hpp"

using namespace dtj;

namespace {

std::string parse_error(const std::string& text) {
  const auto graph = ir::parse(text);
  return graph ? "no error" : graph.error().message;
}

}  // namespace

TEST_CASE("print: one node a line, inputs and outputs with their ports", "[unit][ir]") {
  ir::Graph graph;
  graph.name = "job";
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {4, 8}}, ir::Port::param, 0, "fc.weight");
  const ir::ValueId sum = b.reduce(ir::Op::reduce_sum, x, {0, 1});
  const ir::ValueId scaled = b.binary(ir::Op::mul, sum, b.constant({DType::f32, {1, 1}}, 0.1));
  graph.add_output(b.reshape(scaled, {}), ir::Port::metric, 0, "loss");
  CHECK(ir::print(graph) ==
        "graph \"job\" {\n"
        "  %0 = input(param, 0, \"fc.weight\") : f32[4, 8]\n"
        "  %1 = reduce_sum(%0) {ints = [0, 1]} : f32[1, 1]\n"
        "  %2 = constant() {number = 0.1} : f32[1, 1]\n"
        "  %3 = mul(%1, %2) : f32[1, 1]\n"
        "  %4 = reshape(%3) : f32[]\n"
        "  output(metric, 0, \"loss\") = %4\n"
        "}\n");
}

TEST_CASE("print: parse reads every kind of statement back", "[unit][ir]") {
  const std::string text =
      "graph \"a \\\"quoted\\\" \\\\ name\\n\" {\n"
      "  %0 = input(param, 3, \"w\") : bf16[2, 0, 3]\n"
      "  %1 = input(learning_rate, 0, \"\") : f64[]\n"
      "  %2 = iota() {ints = [1]} : i32[2, 5]\n"
      "  %3 = constant() {number = -inf} : f32[2]\n"
      "  %4 = constant() {number = 1e-30} : f32[]\n"
      "  %5, %6 = all_reduce(%3, %4) {ints = [7], text = \"dp\"} : f32[2], f32[]\n"
      "  %7 = fused(%5) {text = \"row\"} : f32[2] graph \"r\" {\n"
      "    %0 = input(plain, 0, \"x\") : f32[2]\n"
      "    %1 = exp(%0) : f32[2]\n"
      "    output(plain, 0, \"y\") = %1\n"
      "  }\n"
      "  output(gradient, 0, \"g\") = %7\n"
      "  output(plain, 0, \"same\") = %7\n"
      "}\n";
  const auto graph = ir::parse(text);
  INFO(parse_error(text));
  REQUIRE(graph.has_value());
  CHECK(ir::verify(*graph).has_value());
  CHECK(ir::print(*graph) == text);
}

TEST_CASE("print: parse gives back the structure of random graphs", "[unit][ir]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ir::Graph graph = test::random_graph(seed, 3, 5, 30);
    const auto read = ir::parse(ir::print(graph));
    REQUIRE(read.has_value());
    CHECK(ir::structural_hash(*read) == ir::structural_hash(graph));
    CHECK(ir::print(*read) == ir::print(graph));
  }
}

TEST_CASE("print: an input that was added late comes first", "[unit][ir]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId one = b.constant({DType::f32, {}}, 1);
  const ir::ValueId x = graph.add_input({DType::f32, {}}, ir::Port::plain, 0, "x");
  graph.add_output(b.binary(ir::Op::add, one, x), ir::Port::plain, 0, "y");
  const std::string text = ir::print(graph);
  const auto read = ir::parse(text);
  REQUIRE(read.has_value());
  CHECK(ir::print(*read) == text);
  CHECK(ir::structural_hash(*read) == ir::structural_hash(graph));
}

TEST_CASE("parse: errors name the line", "[unit][ir]") {
  CHECK(parse_error("") == "line 1: a word is wanted");
  CHECK(parse_error("plan \"g\" {}") == "line 1: `graph` is wanted, found `plan`");
  CHECK(parse_error("graph \"g\" {\n%0 = conv(%1) : f32[]\n}") == "line 2: `conv` is not an op");
  CHECK(parse_error("graph \"g\" {\n%0 = neg(%1) : f32[]\n}") == "line 2: %1 is not defined");
  CHECK(parse_error("graph \"g\" {\n\n%0 = constant() : g32[]\n}") == "line 3: `g32` is not a dtype");
  CHECK(parse_error("graph \"g\" {\n%0 = input(weight, 0, \"\") : f32[]\n}") == "line 2: `weight` is not a port");
  CHECK(parse_error("graph \"g\" {\n%0 = constant() {size = 2} : f32[]\n}") == "line 2: `size` is not an attribute");
  CHECK(parse_error("graph \"g\" {\n%0, %1 = constant() : f32[]\n}") == "line 2: 2 values have 1 types");
  CHECK(parse_error("graph \"g\" {\n%0 = constant() : f32[]\n%0 = constant() : f32[]\n}") ==
        "line 3: %0 is defined twice");
  CHECK(parse_error("graph \"g\" {\n%0 = constant() : f32[x]\n}") == "line 2: a number is wanted");
  CHECK(parse_error("graph \"g") == "line 1: a string has no end");
  CHECK(parse_error("graph \"g\" {} x") == "line 1: text goes on after the graph");
}

TEST_CASE("parse: endless nesting is an error", "[unit][ir]") {
  std::string text = "graph \"g\" {\n";
  for (int i = 0; i < 1000; ++i) text += "%0 = fused() : f32[] graph \"r\" {\n";
  CHECK(parse_error(text).find("regions are nested too deeply") != std::string::npos);
}
