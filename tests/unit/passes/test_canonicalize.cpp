#include "compiler/passes/passes.hpp"
#include "tests/support/ir_text.hpp"

using namespace dtj;

namespace {

const std::string inputs =
    "%100 = input(plain, 0, \"x\") : f32[4]\n"
    "%101 = input(plain, 1, \"y\") : f32[4]\n"
    "%102 = input(plain, 2, \"c\") : bool[4]\n"
    "%103 = input(plain, 3, \"m\") : f32[2, 3]\n"
    "%104 = input(plain, 4, \"row\") : f32[1, 3]\n"
    "%105 = input(plain, 5, \"h\") : bf16[4]\n";

/// The statements that are left of `body`, whose result is %9; inputs print as %0 to %5.
std::string simplified(const std::string& body) {
  ir::Graph graph = test::graph_of(inputs + body + "output(plain, 0, \"out\") = %9\n");
  passes::canonicalize(graph, {});
  const auto status = ir::verify(graph);
  INFO((status ? std::string() : status.error().to_string()));
  REQUIRE(status.has_value());
  std::string text = ir::print(graph), out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find(" = input(") != std::string::npos || line.find("graph ") == 0 || line == "}") continue;
    const std::string wanted = "  output(plain, 0, \"out\") = ";
    out += line.find(wanted) == 0 ? "-> " + line.substr(wanted.size()) : line.substr(2) + "\n";
  }
  return out;
}

std::string constant(const std::string& name, const std::string& number, const std::string& type = "f32[4]") {
  return name + " = constant() {number = " + number + "} : " + type + "\n";
}

}  // namespace

TEST_CASE("canonicalize: constants fold", "[unit][passes]") {
  CHECK(simplified(constant("%1", "2") + constant("%2", "3") + "%9 = mul(%1, %2) : f32[4]\n") ==
        "%6 = constant() {number = 6} : f32[4]\n-> %6");
  CHECK(simplified(constant("%1", "2") + constant("%2", "3") + "%9 = lt(%1, %2) : bool[4]\n") ==
        "%6 = constant() {number = 1} : bool[4]\n-> %6");
  CHECK(simplified(constant("%1", "2", "f32[]") +
                   "%2 = sqrt(%1) : f32[]\n%3 = reshape(%2) : f32[1]\n%9 = broadcast(%3) : f32[4]\n") ==
        "%6 = constant() {number = 1.4142135381698608} : f32[4]\n-> %6");
}

TEST_CASE("canonicalize: a division of integers by zero stays", "[unit][passes]") {
  const std::string body =
      constant("%1", "2", "i32[4]") + constant("%2", "0", "i32[4]") + "%9 = div(%1, %2) : i32[4]\n";
  CHECK(simplified(body).find("div(") != std::string::npos);
}

TEST_CASE("canonicalize: neutral numbers vanish", "[unit][passes]") {
  for (const char* op : {"%9 = mul(%100, %1) : f32[4]\n", "%9 = mul(%1, %100) : f32[4]\n",
                         "%9 = div(%100, %1) : f32[4]\n", "%9 = pow(%100, %1) : f32[4]\n"})
    CHECK(simplified(constant("%1", "1") + op) == "-> %0");
  for (const char* op :
       {"%9 = add(%100, %1) : f32[4]\n", "%9 = add(%1, %100) : f32[4]\n", "%9 = sub(%100, %1) : f32[4]\n"})
    CHECK(simplified(constant("%1", "0") + op) == "-> %0");
}

TEST_CASE("canonicalize: what is not neutral stays", "[unit][passes]") {
  CHECK(simplified(constant("%1", "0") + "%9 = mul(%100, %1) : f32[4]\n").find("mul(") != std::string::npos);
  CHECK(simplified(constant("%1", "3") + "%9 = div(%100, %1) : f32[4]\n").find("div(") != std::string::npos);
  CHECK(simplified(constant("%1", "1") + "%9 = div(%1, %100) : f32[4]\n").find("div(") != std::string::npos);
}

TEST_CASE("canonicalize: signs merge with sums", "[unit][passes]") {
  CHECK(simplified("%1 = neg(%100) : f32[4]\n%9 = neg(%1) : f32[4]\n") == "-> %0");
  CHECK(simplified("%1 = neg(%101) : f32[4]\n%9 = add(%100, %1) : f32[4]\n") == "%6 = sub(%0, %1) : f32[4]\n-> %6");
  CHECK(simplified("%1 = neg(%100) : f32[4]\n%9 = add(%1, %101) : f32[4]\n") == "%6 = sub(%1, %0) : f32[4]\n-> %6");
  CHECK(simplified("%1 = neg(%101) : f32[4]\n%9 = sub(%100, %1) : f32[4]\n") == "%6 = add(%0, %1) : f32[4]\n-> %6");
  CHECK(simplified(constant("%1", "-1") + "%9 = mul(%100, %1) : f32[4]\n") == "%6 = neg(%0) : f32[4]\n-> %6");
}

TEST_CASE("canonicalize: a square is a product", "[unit][passes]") {
  CHECK(simplified(constant("%1", "2") + "%9 = pow(%100, %1) : f32[4]\n") == "%6 = mul(%0, %0) : f32[4]\n-> %6");
}

TEST_CASE("canonicalize: select with a known condition or equal sides", "[unit][passes]") {
  CHECK(simplified(constant("%1", "1", "bool[4]") + "%9 = select(%1, %100, %101) : f32[4]\n") == "-> %0");
  CHECK(simplified(constant("%1", "0", "bool[4]") + "%9 = select(%1, %100, %101) : f32[4]\n") == "-> %1");
  CHECK(simplified("%9 = select(%102, %100, %100) : f32[4]\n") == "-> %0");
  CHECK(simplified("%1 = logical_not(%102) : bool[4]\n%9 = select(%1, %100, %101) : f32[4]\n") ==
        "%6 = select(%2, %1, %0) : f32[4]\n-> %6");
}

TEST_CASE("canonicalize: logic with a known side", "[unit][passes]") {
  CHECK(simplified(constant("%1", "1", "bool[4]") + "%9 = logical_and(%102, %1) : bool[4]\n") == "-> %2");
  CHECK(simplified(constant("%1", "0", "bool[4]") + "%9 = logical_or(%1, %102) : bool[4]\n") == "-> %2");
  CHECK(simplified(constant("%1", "0", "bool[4]") + "%9 = logical_and(%102, %1) : bool[4]\n") ==
        "%6 = constant() {number = 0} : bool[4]\n-> %6");
  CHECK(simplified("%9 = logical_and(%102, %102) : bool[4]\n") == "-> %2");
}

TEST_CASE("canonicalize: casts merge where the middle dtype holds every value", "[unit][passes]") {
  CHECK(simplified("%1 = cast(%105) : f32[4]\n%9 = cast(%1) : bf16[4]\n") == "-> %5");
  CHECK(simplified("%1 = cast(%105) : f32[4]\n%9 = cast(%1) : f64[4]\n") == "%6 = cast(%5) : f64[4]\n-> %6");
  CHECK(simplified("%9 = cast(%100) : f32[4]\n") == "-> %0");
  const std::string rounding = simplified("%1 = cast(%100) : bf16[4]\n%9 = cast(%1) : f32[4]\n");
  CHECK(rounding == "%6 = cast(%0) : bf16[4]\n%7 = cast(%6) : f32[4]\n-> %7");
}

TEST_CASE("canonicalize: movement of movement merges", "[unit][passes]") {
  CHECK(simplified("%1 = reshape(%103) : f32[6]\n%9 = reshape(%1) : f32[3, 2]\n") ==
        "%6 = reshape(%3) : f32[3, 2]\n-> %6");
  CHECK(simplified("%1 = reshape(%103) : f32[6]\n%9 = reshape(%1) : f32[2, 3]\n") == "-> %3");
  CHECK(simplified(
            "%1 = transpose(%103) {ints = [1, 0]} : f32[3, 2]\n%9 = transpose(%1) {ints = [1, 0]} : f32[2, 3]\n") ==
        "-> %3");
  CHECK(simplified("%1 = broadcast(%104) : f32[5, 3]\n%2 = slice(%1) {ints = [0, 5, 0, 3]} : f32[5, 3]\n%9 = "
                   "broadcast(%2) : f32[5, 3]\n") == "%6 = broadcast(%4) : f32[5, 3]\n-> %6");
  CHECK(simplified("%1 = slice(%100) {ints = [1, 4]} : f32[3]\n%9 = slice(%1) {ints = [1, 2]} : f32[1]\n") ==
        "%6 = slice(%0) {ints = [2, 3]} : f32[1]\n-> %6");
  CHECK(simplified("%1 = pad(%100) {ints = [1, 2]} : f32[7]\n%9 = pad(%1) {ints = [3, 0]} : f32[10]\n") ==
        "%6 = pad(%0) {ints = [4, 2]} : f32[10]\n-> %6");
  CHECK(simplified("%1 = concat(%100, %101) {ints = [0]} : f32[8]\n%9 = concat(%1, %100) {ints = [0]} : f32[12]\n") ==
        "%6 = concat(%0, %1, %0) {ints = [0]} : f32[12]\n-> %6");
}

TEST_CASE("canonicalize: transposes of three dims compose", "[unit][passes]") {
  const std::string body =
      "%1 = reshape(%103) : f32[1, 2, 3]\n%2 = broadcast(%1) : f32[4, 2, 3]\n"
      "%3 = transpose(%2) {ints = [1, 2, 0]} : f32[2, 3, 4]\n%9 = transpose(%3) {ints = [1, 2, 0]} : f32[3, 4, 2]\n";
  CHECK(simplified(body).find("transpose(%7) {ints = [2, 0, 1]} : f32[3, 4, 2]\n-> %8") != std::string::npos);
}

TEST_CASE("canonicalize: movement that keeps every place vanishes", "[unit][passes]") {
  CHECK(simplified("%9 = reshape(%103) : f32[2, 3]\n") == "-> %3");
  CHECK(simplified("%9 = transpose(%103) {ints = [0, 1]} : f32[2, 3]\n") == "-> %3");
  CHECK(simplified("%9 = broadcast(%103) : f32[2, 3]\n") == "-> %3");
  CHECK(simplified("%9 = pad(%100) {ints = [0, 0]} : f32[4]\n") == "-> %0");
  CHECK(simplified("%9 = concat(%100) {ints = [0]} : f32[4]\n") == "-> %0");
  CHECK(simplified("%9 = transpose(%104) {ints = [1, 0]} : f32[3, 1]\n") == "%6 = reshape(%4) : f32[3, 1]\n-> %6");
}

TEST_CASE("canonicalize: padding a constant keeps the border", "[unit][passes]") {
  CHECK(simplified(constant("%1", "2") + "%9 = pad(%1) {ints = [1, 0]} : f32[5]\n").find("pad(") != std::string::npos);
  CHECK(simplified(constant("%1", "0") + "%9 = pad(%1) {ints = [1, 0]} : f32[5]\n") ==
        "%6 = constant() {number = 0} : f32[5]\n-> %6");
}

TEST_CASE("canonicalize: sums of neighbouring pads are a concatenation", "[unit][passes]") {
  CHECK(simplified(
            "%1 = pad(%100) {ints = [0, 8]} : f32[12]\n%2 = pad(%101) {ints = [4, 4]} : f32[12]\n"
            "%3 = pad(%100) {ints = [8, 0]} : f32[12]\n%4 = add(%1, %2) : f32[12]\n%9 = add(%4, %3) : f32[12]\n") ==
        "%6 = concat(%0, %1, %0) {ints = [0]} : f32[12]\n-> %6");
  CHECK(simplified("%1 = pad(%100) {ints = [4, 0]} : f32[8]\n%2 = pad(%101) {ints = [0, 4]} : f32[8]\n%9 = add(%1, %2) "
                   ": f32[8]\n") == "%6 = concat(%1, %0) {ints = [0]} : f32[8]\n-> %6");
  CHECK(simplified("%1 = pad(%100) {ints = [3, 0]} : f32[7]\n%2 = pad(%101) {ints = [0, 3]} : f32[7]\n%9 = add(%1, %2) "
                   ": f32[7]\n")
            .find("add(") != std::string::npos);
}

TEST_CASE("canonicalize: reductions over extents of 1 vanish", "[unit][passes]") {
  CHECK(simplified("%9 = reduce_sum(%104) {ints = [0]} : f32[1, 3]\n") == "-> %4");
  CHECK(simplified("%9 = reduce_max(%104) {ints = [1]} : f32[1, 1]\n").find("reduce_max(") != std::string::npos);
}

TEST_CASE("canonicalize: a reduction of nothing is not the constant", "[unit][passes]") {
  const std::string body = constant("%1", "5", "f32[0]") + "%9 = reduce_max(%1) {ints = [0]} : f32[1]\n";
  CHECK(simplified(body).find("reduce_max(") != std::string::npos);
}

TEST_CASE("canonicalize: equal expressions are computed once, the order of operands counts", "[unit][passes]") {
  CHECK(simplified("%1 = exp(%100) : f32[4]\n%2 = exp(%100) : f32[4]\n%9 = mul(%1, %2) : f32[4]\n") ==
        "%6 = exp(%0) : f32[4]\n%7 = mul(%6, %6) : f32[4]\n-> %7");
  CHECK(simplified("%1 = sub(%100, %101) : f32[4]\n%2 = sub(%101, %100) : f32[4]\n%9 = mul(%1, %2) : f32[4]\n") ==
        "%6 = sub(%0, %1) : f32[4]\n%7 = sub(%1, %0) : f32[4]\n%8 = mul(%6, %7) : f32[4]\n-> %8");
}

TEST_CASE("canonicalize: zeros of both signs are different constants", "[unit][passes]") {
  const std::string body = constant("%1", "0") + constant("%2", "-0") +
                           "%3 = div(%100, %1) : f32[4]\n%4 = div(%100, %2) : f32[4]\n" + "%9 = mul(%3, %4) : f32[4]\n";
  CHECK(simplified(body).find("number = -0") != std::string::npos);
}

TEST_CASE("canonicalize: what no output needs is dropped", "[unit][passes]") {
  CHECK(simplified("%1 = exp(%101) : f32[4]\n%2 = log(%1) : f32[4]\n%9 = neg(%100) : f32[4]\n") ==
        "%6 = neg(%0) : f32[4]\n-> %6");
}

TEST_CASE("canonicalize: stop_gradient stays, strip_stop_gradient removes it", "[unit][passes]") {
  CHECK(simplified("%9 = stop_gradient(%100) : f32[4]\n") == "%6 = stop_gradient(%0) : f32[4]\n-> %6");
  ir::Graph graph = test::graph_of(
      inputs + "%1 = stop_gradient(%100) : f32[4]\n%9 = exp(%1) : f32[4]\noutput(plain, 0, \"\") = %9\n");
  CHECK(passes::strip_stop_gradient(graph, {}));
  REQUIRE(graph.nodes().size() == 1);
  CHECK(graph.nodes()[0].op == ir::Op::exp);
  CHECK_FALSE(passes::strip_stop_gradient(graph, {}));
}

TEST_CASE("canonicalize: collectives are neither merged nor split", "[unit][passes]") {
  CHECK(simplified("%1, %2 = all_reduce(%100, %100) {ints = [0], text = \"dp\"} : f32[4], f32[4]\n"
                   "%3 = all_reduce(%100) {ints = [1], text = \"dp\"} : f32[4]\n%4 = add(%1, %2) : f32[4]\n%9 = "
                   "add(%4, %3) : f32[4]\n") ==
        "%6, %7 = all_reduce(%0, %0) {ints = [0], text = \"dp\"} : f32[4], f32[4]\n"
        "%8 = all_reduce(%0) {ints = [1], text = \"dp\"} : f32[4]\n%9 = add(%6, %7) : f32[4]\n%10 = add(%9, %8) : "
        "f32[4]\n-> %10");
}

TEST_CASE("canonicalize: new nodes keep the source range of what they replace", "[unit][passes]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {4}}, ir::Port::plain, 0, "x");
  const ir::ValueId negated = b.unary(ir::Op::neg, x);
  b.at(source::Range::of({}, 3, 8));
  graph.add_output(b.binary(ir::Op::add, b.unary(ir::Op::exp, x), negated), ir::Port::plain, 0, "y");
  passes::canonicalize(graph, {});
  const ir::Node& last = graph.nodes().back();
  CHECK(last.op == ir::Op::sub);
  CHECK(last.range.begin == 3);
  CHECK_FALSE(last.range.is_none);
}
