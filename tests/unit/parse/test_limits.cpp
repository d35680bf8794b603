#include "tests/support/catch.hpp"
#include "tests/unit/parse/parsed.hpp"

namespace {

std::string repeat(const std::string& piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

/// The code of the only error, or "" for a sound text.
std::string code(const std::string& text) {
  const Parsed parsed(text);
  const auto diagnostics = parsed.sink.sorted();
  if (diagnostics.empty()) return "";
  return std::string(info(diagnostics.front().kind).code);
}

std::string constant(const std::string& value) { return "dtj 1;\nconst a = " + value + ";\n"; }

}  // namespace

TEST_CASE("limits: nesting up to the limit is taken", "[unit][parse]") {
  CHECK(code(constant(repeat("(", 100) + "1" + repeat(")", 100))) == "");
  CHECK(code(constant(repeat("f(", 100) + "1" + repeat(")", 100))) == "");
  CHECK(code(constant("1" + repeat(" + 1", 200))) == "");
  CHECK(code(constant(repeat("-", 200) + "1")) == "");
  CHECK(code("dtj 1;\njob j {\n" + repeat("data x { a = f(1)(2) + 3; }\n", 2000) + "}\n") == "");
  CHECK(code("dtj 1;\nfn f(x) {\n" + repeat("for i in 0..3 { x = x + 1; }\n", 1000) + "x }\n") == "");
}

TEST_CASE("limits: deep nesting is an error, in every form", "[unit][parse]") {
  const std::size_t many = 100'000;
  for (const std::string& value :
       {repeat("(", many), repeat("[", many), repeat("{a=", many), repeat("-", many), repeat("not ", many), repeat("! ", many),
        repeat("f(", many), repeat("if ", many), "1" + repeat(" ** 1", many), "1" + repeat(" + 1", many),
        "x" + repeat(".y", many), "x" + repeat("(1)", many), "x" + repeat("[1]", many), "x" + repeat(" |> f", many),
        "x as T" + repeat("?", many), "x as " + repeat("[", many), "x as " + repeat("(", many), repeat("if a {", many),
        "if a {} " + repeat("else if a {} ", many), "x" + repeat(" as T", many), repeat("( ] ", many),
        repeat("{ ( } ", many), repeat("[ ) { ( ", many), "-test" + repeat("- test", many)}) {
    INFO(value.substr(0, 40));
    CHECK(code(constant(value)) == "E004");
    CHECK(code("dtj 1;\nfn f() { " + value) == "E004");
  }
  CHECK(code("dtj 1;\njob j { " + repeat("a { ", many)) == "E004");
  CHECK(code("dtj 1;\nconst x = 1; " + repeat("@a", many) + " fn f();") == "E004");
}

TEST_CASE("limits: a flood of errors ends", "[unit][parse]") {
  const Parsed parsed("dtj 1;\njob j {\n" + repeat("a = ;\n", 20'000) + "}\n");
  CHECK(parsed.sink.num_errors() == 100);
  const Parsed characters("dtj 1;\n" + repeat("$ ", 20'000));
  CHECK(characters.sink.num_errors() >= 100);
}

TEST_CASE("limits: a line full of marks that no token begins with", "[unit][parse]") {
  for (const char* mark : {"'", "\xE2\x80\x9C", "$", "^", "'a' "}) {
    const Parsed parsed("dtj 1;\njob j " + repeat(mark, 20'000));
    CHECK(parsed.sink.has_errors());
    CHECK(parsed.sink.sorted().size() <= 1000);
  }
}

TEST_CASE("limits: a text cut or torn anywhere ends in errors", "[unit][parse]") {
  // Recovery puts tokens in and takes tokens out; every place of every declaration is a place to do so.
  const std::string text = R"(dtj 1;
import std.nn.{Linear, relu};
import std.optim as o;
bind <out>: path.dir = "runs" where len(<out>) > 0 "folder";
const a: int = if 1 < 2 { -3 } else { f(x, y = [1, 2])[0].b };
record R { a: int; b: f32[B, 1]? = none; }
enum E { one, two, }
@primitive("x") fn g(x: act[B@dp, C]!(tp), n: int = 2) -> act[B] where n divides C, n > 0;
module M(c: dim) {
  param w: par[c, 4] = normal(0.02);
  sub h[i in 0..3] = Linear(c, 4, bias = false);
  fn forward(x: act[B, c]) -> act[B, 4] { mut y = x |> h |> relu; for i in 0..2 { y += x; } y as f32 }
}
job j extends k {
  launch { method = slurm(partition = <p>); nodes = 2; every = min_of(1step, 30min); }
  fn objective(m, batch) { let (p, q) = m(batch.x); {loss = p, acc = not q and true} }
  train { stop = 10epoch; }
}
)";
  REQUIRE(code(text) == "");
  for (const std::size_t hole : {text.size(), std::size_t{1}, std::size_t{7}}) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string torn = text;
      torn.erase(at, hole);
      INFO("at " << at << " without " << hole << " bytes");
      REQUIRE_NOTHROW(code(torn));
    }
  }
}

TEST_CASE("limits: a token put in beside a token put in", "[unit][parse]") {
  CHECK(code("dtj ;test\";") != "");
  CHECK(code("dtj ;test") != "");
}

TEST_CASE("limits: a text over 16 MiB is refused", "[unit][parse]") {
  CHECK(code(std::string((16 << 20) + 1, ' ')) == "E005");
}
