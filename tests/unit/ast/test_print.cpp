#include "compiler/ast/ast.hpp"
#include "tests/support/catch.hpp"

using namespace dtj::ast;

namespace {

Name name(std::string text) { return {std::move(text), {}}; }

template <class Node>
ExprPtr expr(Node node) {
  auto result = std::make_unique<Expr>();
  result->node = std::move(node);
  return result;
}

ExprPtr ref(std::string text) { return expr(NameRef{std::move(text)}); }
ExprPtr binary(BinaryOp op, ExprPtr lhs, ExprPtr rhs) { return expr(Binary{op, std::move(lhs), std::move(rhs), {}}); }

TypePtr type(std::string base) {
  auto result = std::make_unique<TypeExpr>();
  NamedType named;
  named.base.parts.push_back(name(std::move(base)));
  result->node = std::move(named);
  return result;
}

/// The text of `const x = value;`, without the frame.
std::string printed(ExprPtr value) {
  File file;
  file.decls.emplace_back(ConstDecl{name("x"), nullptr, std::move(value), {}});
  const std::string text = print(file);
  const std::string frame = "dtj 1;\n\nconst x = ";
  REQUIRE(text.substr(0, frame.size()) == frame);
  return text.substr(frame.size(), text.size() - frame.size() - 2);
}

}  // namespace

TEST_CASE("to_string: a path has dots", "[unit][ast]") {
  CHECK(Path{{name("std"), name("nn"), name("Linear")}, {}}.to_string() == "std.nn.Linear");
  CHECK(Path{}.to_string().empty());
}

TEST_CASE("to_string: operators as written", "[unit][ast]") {
  CHECK(to_string(BinaryOp::pow) == "**");
  CHECK(to_string(BinaryOp::floor_div) == "div");
  CHECK(to_string(BinaryOp::logical_or) == "or");
  CHECK(to_string(BinaryOp::divides) == "divides");
}

TEST_CASE("print: literals read back as the same values", "[unit][ast]") {
  CHECK(printed(expr(IntLit{524288})) == "524288");
  CHECK(printed(expr(FloatLit{1.0})) == "1.0");
  CHECK(printed(expr(FloatLit{1e-5})) == "1e-05");
  CHECK(printed(expr(FloatLit{2.23606797749979})) == "2.23606797749979");
  CHECK(printed(expr(QuantityLit{30, "min"})) == "30min");
  CHECK(printed(expr(QuantityLit{2.5, "%"})) == "2.5%");
  CHECK(printed(expr(QuantityLit{0, "xA"})) == "0.0xA");
  CHECK(printed(expr(StringLit{"a\"\\\n\t"})) == R"("a\"\\\n\t")");
  CHECK(printed(expr(BoolLit{true})) == "true");
  CHECK(printed(expr(NoneLit{})) == "none");
  CHECK(printed(expr(PlaceholderRef{"out"})) == "<out>");
}

TEST_CASE("print: brackets stand only where the tree needs them", "[unit][ast]") {
  const auto sum = [] { return binary(BinaryOp::add, ref("a"), ref("b")); };
  CHECK(printed(binary(BinaryOp::mul, sum(), ref("c"))) == "(a + b) * c");
  CHECK(printed(binary(BinaryOp::add, sum(), ref("c"))) == "a + b + c");
  CHECK(printed(binary(BinaryOp::sub, ref("c"), sum())) == "c - (a + b)");
  CHECK(printed(binary(BinaryOp::pow, ref("a"), binary(BinaryOp::pow, ref("b"), ref("c")))) == "a ** b ** c");
  CHECK(printed(binary(BinaryOp::pow, expr(Unary{UnaryOp::neg, ref("a")}), ref("b"))) == "(-a) ** b");
  CHECK(printed(expr(Unary{UnaryOp::logical_not, binary(BinaryOp::eq, ref("a"), ref("b"))})) == "not a == b");
  CHECK(printed(binary(BinaryOp::add, expr(Cast{ref("a"), type("f32")}), ref("b"))) == "(a as f32) + b");
  CHECK(printed(expr(Cast{expr(Pipe{ref("a"), ref("f")}), type("f32")})) == "a |> f as f32");
}

TEST_CASE("print: a tuple of one keeps its comma", "[unit][ast]") {
  TupleLit tuple;
  tuple.elements.push_back(ref("a"));
  CHECK(printed(expr(std::move(tuple))) == "(a,)");
}

TEST_CASE("print: mesh axes and packs in a type", "[unit][ast]") {
  auto tensor = type("act");
  auto& named = std::get<NamedType>(tensor->node);
  named.dims.emplace();
  DimExpr pack;
  pack.pack = name("L");
  named.dims->push_back(std::move(pack));
  DimExpr sharded;
  sharded.size = binary(BinaryOp::mul, expr(IntLit{4}), ref("C"));
  sharded.axes = {name("tp"), name("dp")};
  named.dims->push_back(std::move(sharded));
  named.unreduced = {name("dp")};
  CHECK(printed(expr(Cast{ref("x"), std::move(tensor)})) == "x as act[..L, 4 * C@tp*dp]!(dp)");
}

TEST_CASE("print: a job in its fixed form", "[unit][ast]") {
  JobDecl job;
  job.name = name("j");
  job.settings.push_back({{{name("seed")}, {}}, expr(IntLit{1}), {}});
  Section section;
  section.kind = name("data");
  section.label = name("train");
  section.settings.push_back({{{name("a"), name("b")}, {}}, ref("c"), {}});
  job.sections.push_back(std::move(section));
  File file;
  file.decls.emplace_back(std::move(job));
  CHECK(print(file) == R"(dtj 1;

job j {
  seed = 1;
  data train {
    a.b = c;
  }
}
)");
}
