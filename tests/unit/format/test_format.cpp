#include "compiler/format/format.hpp"
#include "tests/support/catch.hpp"

namespace dtj::format {
namespace {

std::string formatted(const std::string& text) {
  source::SourceManager sources;
  diag::Sink sink;
  const auto result = format(sources.file(sources.add("a.dtj", text)), sink);
  INFO(diag::render_text(sink.sorted(), sources, {}));
  REQUIRE(result.has_value());
  return *result;
}

/// The text stays as it is.
void is_stable(const std::string& text) { CHECK(formatted(text) == text); }

}  // namespace

TEST_CASE("format: spaces", "[unit][format]") {
  CHECK(formatted("dtj   1 ;const a=1+2*3;") == "dtj 1;\nconst a = 1 + 2 * 3;\n");
  CHECK(formatted("dtj 1;\nconst a=-1- -2;") == "dtj 1;\nconst a = -1 - -2;\n");
  CHECK(formatted("dtj 1;\nconst a=f( x,y=2 ) [ 0 : 4,none ];") == "dtj 1;\nconst a = f(x, y = 2)[0:4, none];\n");
  CHECK(formatted("dtj 1;\nconst a=[ 1,2 ];\nconst b=( 1,2 );\nconst c={ a=1,b=2 };") ==
        "dtj 1;\nconst a = [1, 2];\nconst b = (1, 2);\nconst c = {a = 1, b = 2};\n");
  CHECK(formatted("dtj 1;\nimport std . nn . { A,B } ;") == "dtj 1;\nimport std.nn.{A, B};\n");
  CHECK(formatted("dtj 1;\nfn f(x:act[ ..L , C ],y :int=1)->act[..L,C]{x|>g}") ==
        "dtj 1;\nfn f(x: act[..L, C], y: int = 1) -> act[..L, C] { x |> g }\n");
  CHECK(formatted("dtj 1;\nconst a = x@y;\nfn f(x: act[B @ dp]) { x }") ==
        "dtj 1;\nconst a = x @ y;\nfn f(x: act[B@dp]) { x }\n");
  CHECK(formatted("dtj 1;\nconst a = if a{1}else{2};") == "dtj 1;\nconst a = if a { 1 } else { 2 };\n");
  CHECK(formatted("dtj 1;\nenum Mode{on,off}") == "dtj 1;\nenum Mode { on, off }\n");
  CHECK(formatted("dtj 1;\njob a{mesh{}}") == "dtj 1;\njob a { mesh {} }\n");
  CHECK(formatted("dtj 1;\nconst a = not(b)and where(c,d,e)==! f;") == "dtj 1;\nconst a = not (b) and where(c, d, e) == !f;\n");
}

TEST_CASE("format: a group with a break of its own is broken at both ends", "[unit][format]") {
  CHECK(formatted("dtj 1;\nconst a = f(1,\n2);\n") == "dtj 1;\nconst a = f(\n  1,\n  2\n);\n");
  CHECK(formatted("dtj 1;\njob a { mesh { dp = 1; }\nseed = 1; }\n") ==
        "dtj 1;\njob a {\n  mesh { dp = 1; }\n  seed = 1;\n}\n");
  is_stable("dtj 1;\nconst a = f(g(\n  1,\n  2\n), 3);\n");
}

TEST_CASE("format: what goes on from a line is set in", "[unit][format]") {
  CHECK(formatted("dtj 1;\nfn f(x) {\nx\n|> g\n|> h(\n1,\n)\n}\n") ==
        "dtj 1;\nfn f(x) {\n  x\n    |> g\n    |> h(\n      1,\n    )\n}\n");
  is_stable("dtj 1;\nmodule A(C: dim)\n  where C > 0\n{\n  fn forward(x) { x }\n}\n");
  CHECK(formatted("dtj 1;\nmodule A(C: dim)\n{\nfn forward(x) { x }\n}\n") ==
        "dtj 1;\nmodule A(C: dim) {\n  fn forward(x) { x }\n}\n");
  is_stable("dtj 1;\n@optimizer\nmodule A {\n  @shard(column = tp)\n  sub a = B();\n}\n");
}

TEST_CASE("format: blank lines", "[unit][format]") {
  CHECK(formatted("\n\ndtj 1;\n\n\n\nconst a = 1;\n\n\n") == "dtj 1;\n\nconst a = 1;\n");
  CHECK(formatted("dtj 1;\njob a {\n\n  seed = 1;\n\n}\n") == "dtj 1;\njob a {\n  seed = 1;\n}\n");
  CHECK(formatted("dtj 1; const a = 1; const b = 2;") == "dtj 1;\nconst a = 1;\nconst b = 2;\n");
}

TEST_CASE("format: comments stay", "[unit][format]") {
  is_stable("// first\ndtj 1;  // edition\n\n/// What it is.\nconst a = 1;\n// last\n");
  CHECK(formatted("dtj 1;\nfn f(x) {// why\nx/* in */+1// end\n// own\n}") ==
        "dtj 1;\nfn f(x) {  // why\n  x /* in */ + 1  // end\n  // own\n}\n");
  CHECK(formatted("dtj 1;\nconst a = f(1, // one\n2);") == "dtj 1;\nconst a = f(\n  1,  // one\n  2\n);\n");
  is_stable("dtj 1;\n/* a\n     b\n  c */\nconst a = 1;\n");
  CHECK(formatted("dtj 1;\nconst a = 1;   // x   \n") == "dtj 1;\nconst a = 1;  // x\n");
}

TEST_CASE("format: neighbours stand in columns", "[unit][format]") {
  is_stable(
      "dtj 1;\nbind <data>:   path.dir = \"data\" \"the images\";\nbind <output>: path.dir          \"checkpoints\";\n");
  CHECK(formatted("dtj 1;\nmodule A {\nsub fc1 = B();\nsub head = C();\n\nsub x = D();\n}") ==
        "dtj 1;\nmodule A {\n  sub fc1  = B();\n  sub head = C();\n\n  sub x = D();\n}\n");
  CHECK(formatted("dtj 1;\nmodule A {\nparam weight: par[C];\nparam b: par[C];\n}") ==
        "dtj 1;\nmodule A {\n  param weight: par[C];\n  param b:      par[C];\n}\n");
  CHECK(formatted("dtj 1;\nmodule A {\nsub a = B();\nsub a_very_long_name[i in 0..n] = C();\n}") ==
        "dtj 1;\nmodule A {\n  sub a = B();\n  sub a_very_long_name[i in 0..n] = C();\n}\n");
  is_stable("dtj 1;\nmodule A {\n  sub fc1   = B();\n  sub short when c = C();\n  sub b     when c and d = D();\n}\n");
  CHECK(formatted("dtj 1;\nconst a = 1; // one\nconst long_name = 2; // two\n") ==
        "dtj 1;\nconst a = 1;          // one\nconst long_name = 2;  // two\n");
}

TEST_CASE("format: long lines break at their outermost groups", "[unit][format]") {
  const std::string name(50, 'a');
  CHECK(formatted("dtj 1;\nconst x = f(" + name + ", g(" + name + "), " + name + ");\n") ==
        "dtj 1;\nconst x = f(\n  " + name + ",\n  g(" + name + "),\n  " + name + "\n);\n");
  CHECK(formatted("dtj 1;\njob a { launch { nodes = 1; method = local; } mesh { dp = 2; } seed = 1; model = " + name + "(" + name + "); }") ==
        "dtj 1;\njob a {\n  launch { nodes = 1; method = local; }\n  mesh { dp = 2; }\n  seed = 1;\n  model = " + name + "(" + name + ");\n}\n");
}

TEST_CASE("format: a text with mistakes is left alone, and the sink says why", "[unit][format]") {
  source::SourceManager sources;
  diag::Sink sink;
  CHECK_FALSE(format(sources.file(sources.add("a.dtj", "dtj 1;\nconst a = ;\n")), sink).has_value());
  CHECK(sink.has_errors());
}

}  // namespace dtj::format
