#include "tests/support/catch.hpp"
#include "tests/unit/parse/parsed.hpp"

using namespace dtj::ast;

namespace {

/// `text` as the printer shows it, which writes brackets only where the tree has them.
std::string reprint(const std::string& text) {
  const Parsed parsed("dtj 1;\nconst x = " + text + ";\n");
  INFO(parsed.errors());
  REQUIRE(parsed.sink.sorted().empty());
  const std::string printed = parsed.printed();
  const std::string frame = "dtj 1;\n\nconst x = ";
  return printed.substr(frame.size(), printed.size() - frame.size() - 2);
}

template <class Node>
Node value(const std::string& text) {
  const Parsed parsed("dtj 1;\nconst x = " + text + ";\n");
  INFO(parsed.errors());
  REQUIRE(parsed.sink.sorted().empty());
  REQUIRE(std::holds_alternative<Node>(parsed.decl<ConstDecl>().value->node));
  return std::move(std::get<Node>(parsed.decl<ConstDecl>().value->node));
}

}  // namespace

TEST_CASE("parse: numbers", "[unit][parse]") {
  CHECK(value<IntLit>("50_257").value == 50257);
  CHECK(value<IntLit>("0x1F").value == 31);
  CHECK(value<IntLit>("9223372036854775807").value == INT64_MAX);
  CHECK(value<FloatLit>("2e-3").value == 2e-3);
  CHECK(value<FloatLit>("1_0.5").value == 10.5);
  CHECK(value<QuantityLit>("524_288tok").value == 524288);
  CHECK(value<QuantityLit>("524_288tok").unit == "tok");
  CHECK(value<QuantityLit>("2.5GiB").value == 2.5);
  CHECK(value<QuantityLit>("1e3ms").value == 1000);
  CHECK(value<QuantityLit>("90%").unit == "%");
}

TEST_CASE("parse: strings and other literals", "[unit][parse]") {
  CHECK(value<StringLit>(R"("a\n\t\"\\b")").value == "a\n\t\"\\b");
  CHECK(value<StringLit>("\"\xC3\xA9 // no comment\"").value == "\xC3\xA9 // no comment");
  CHECK(value<BoolLit>("true").value);
  CHECK(value<PlaceholderRef>("<data_dir>").name == "data_dir");
  CHECK(value<NameRef>("test").name == "test");
  CHECK(value<NameRef>("params").name == "params");
}

TEST_CASE("parse: precedence and association", "[unit][parse]") {
  CHECK(reprint("a + b * c") == "a + b * c");
  CHECK(reprint("(a + b) * c") == "(a + b) * c");
  CHECK(reprint("a - (b - c)") == "a - (b - c)");
  CHECK(reprint("(a - b) - c") == "a - b - c");
  CHECK(reprint("a ** (b ** c)") == "a ** b ** c");
  CHECK(reprint("(a ** b) ** c") == "(a ** b) ** c");
  CHECK(reprint("-(x ** 2)") == "-x ** 2");
  CHECK(reprint("not (a == b) and c") == "not a == b and c");
  CHECK(reprint("a && b || !c") == "a and b or not c");
  CHECK(reprint("0..(n - 1)") == "0..n - 1");
  CHECK(reprint("a div b % c @ d") == "a div b % c @ d");
  CHECK(reprint("groups divides I and x >= 1") == "groups divides I and x >= 1");
  CHECK(reprint("((x |> f) as act[B]) |> g(1)") == "x |> f as act[B] |> g(1)");
  CHECK(reprint("(a + b) as f32") == "a + b as f32");
}

TEST_CASE("parse: calls, fields and subscripts", "[unit][parse]") {
  CHECK(reprint("self.h[0].attn(x, axis = -1, end = 2, max = 3,)") == "self.h[0].attn(x, axis = -1, end = 2, max = 3)");
  CHECK(reprint("x[..., none]") == "x[..., none]");
  CHECK(reprint("x[:, none, 1:, :n, i:j, 3]") == "x[:, none, 1:, :n, i:j, 3]");
  CHECK(reprint("where(a, b, when)") == "where(a, b, when)");
  CHECK(reprint("f()(1)[2].g") == "f()(1)[2].g");
}

TEST_CASE("parse: tuples, lists and records", "[unit][parse]") {
  CHECK(reprint("(a)") == "a");
  CHECK(reprint("(a,)") == "(a,)");
  CHECK(reprint("(0.9, 0.999)") == "(0.9, 0.999)");
  CHECK(reprint("[]") == "[]");
  CHECK(reprint("[1, 2,]") == "[1, 2]");
  CHECK(reprint("{}") == "{}");
  CHECK(reprint("{loss = a, acc = b}") == "{loss = a, acc = b}");
}

TEST_CASE("parse: the value of a block is its last expression without a semicolon", "[unit][parse]") {
  const Parsed parsed("dtj 1;\nfn f(x) { let a = 1; for b in x { a = b; } {loss = a} }\nfn g(x) { x; }\n");
  REQUIRE(parsed.sink.sorted().empty());
  const Block& body = *parsed.decl<FnDecl>(0).body;
  REQUIRE(body.statements.size() == 2);
  REQUIRE(body.result);
  CHECK(std::get<RecordLit>(body.result->node).fields.at(0).first.text == "loss");
  const Block& other = *parsed.decl<FnDecl>(1).body;
  CHECK(other.statements.size() == 1);
  CHECK_FALSE(other.result);
}

TEST_CASE("parse: if chains", "[unit][parse]") {
  const If node = value<If>("if a { 1 } else if b { 2 } else { 3 }");
  REQUIRE(node.else_block);
  REQUIRE(node.else_block->result);
  CHECK(std::get<If>(node.else_block->result->node).else_block);
  CHECK(reprint("(if a { 1 } else { 2 }) + 3") == "(if a {\n  1\n} else {\n  2\n}) + 3");
}

TEST_CASE("parse: ranges are bytes, also after text that is not ASCII", "[unit][parse]") {
  const std::string text = "dtj 1;\n// caf\xC3\xA9 \xF0\x9F\x98\x80\nconst x = \"\xC3\xA9\" + name;\n";
  const Parsed parsed(text);
  REQUIRE(parsed.sink.sorted().empty());
  const auto& binary = std::get<Binary>(parsed.decl<ConstDecl>().value->node);
  const auto slice = [&](dtj::source::Range range) { return std::string(parsed.sources.file(range.file).slice(range)); };
  CHECK(slice(binary.rhs->range) == "name");
  CHECK(slice(binary.lhs->range) == "\"\xC3\xA9\"");
  CHECK(slice(binary.op_range) == "+");
  CHECK(slice(parsed.decl<ConstDecl>().range) == "const x = \"\xC3\xA9\" + name;");
}
