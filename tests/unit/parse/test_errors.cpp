#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/unit/parse/parsed.hpp"

namespace {

/// "E002 3:12 expected `;` after this setting", one a line, in order.
std::string brief(const std::string& text) {
  const Parsed parsed(text);
  std::string lines;
  for (const auto& diagnostic : parsed.sink.sorted()) {
    const auto at = parsed.sources.file(diagnostic.range.file).position(diagnostic.range.begin);
    lines += fmt::format("{} {}:{} {}\n", info(diagnostic.kind).code, at.line, at.column, diagnostic.message);
  }
  return lines;
}

std::string in_job(const std::string& body) { return brief("dtj 1;\njob j {\n" + body + "\n}\n"); }
std::string in_fn(const std::string& body) { return brief("dtj 1;\nfn f(x) {\n" + body + "\n}\n"); }

}  // namespace

TEST_CASE("errors: a missing semicolon", "[unit][parse]") {
  CHECK(in_job("  nodes = 4\n  gpus = 8;") == "E002 3:12 expected `;` after this setting\n");
  CHECK(in_job("  nodes = 4 gpus = 8;") == "E002 3:12 expected `;` after this setting, found `gpus`\n");
  CHECK(in_job("  mesh { dp = 4 }") == "E002 3:16 expected `;` after this setting\n");
  CHECK(in_fn("  let a = 1\n  a") == "E002 3:12 expected `;` after this statement\n");
  CHECK(in_fn("  let a = 1") == "E002 3:12 expected `;` after this statement\n");
  CHECK(brief("dtj 1;\nimport \"x\"\nconst a = 1;\n") == "E002 2:11 expected `;` after this import\n");
}

TEST_CASE("errors: a comma or a colon in a setting", "[unit][parse]") {
  CHECK(in_job("  nodes = 4,\n  gpus = 8;") == "E002 3:12 expected `;` after this setting, found `,`\n");
  CHECK(in_job("  nodes: 4;") == "E002 3:8 expected `=` or `{` after `nodes`, found `:`\n");
}

TEST_CASE("errors: a missing value, name or type", "[unit][parse]") {
  CHECK(in_job("  nodes = ;") == "E002 3:11 expected a value after `=`, found `;`\n");
  CHECK(in_fn("  x + ;\n  x") == "E002 3:7 expected a value after `+`, found `;`\n");
  CHECK(in_fn("  x.") == "E002 3:5 expected a name after `.`, found `}`\n");
  CHECK(brief("dtj 1;\nmodule M(a: ) { }\n") == "E002 2:13 expected a type after `:`, found `)`\n");
  CHECK(brief("dtj 1;\nconst in = 3;\n") == "E002 2:7 expected a name, found the reserved word `in`\n");
}

TEST_CASE("errors: brackets that do not match", "[unit][parse]") {
  CHECK(brief("dtj 1;\njob j {\n  launch {\n    nodes = 1;\n") == "E002 4:15 expected `}`, found the end of the file\n");
  CHECK(brief("dtj 1;\njob j {\n}\n}\nconst a = 1;\n") == "E002 4:1 unexpected `}`\n");
  CHECK(in_fn("  let a = g(1, (2 + 3);\n  a") == "E002 3:23 expected `)`, found `;`\n");
  CHECK(in_fn("  let a = 1);\n  a") == "E002 3:12 unexpected `)`\n");
  CHECK(brief("dtj 1;\nmodule A {\n  param w: par[C];\n\nmodule B {\n}\n") ==
        "E002 3:19 expected `}`, found the reserved word `module`\n");
}

TEST_CASE("errors: a missing comma", "[unit][parse]") {
  CHECK(in_job("  a = f(1 2);\n  b = {x = 1 y = 2};") ==
        "E002 3:11 expected `,` or `)`, found `2`\nE002 4:14 expected `,` or `}`, found `y`\n");
  CHECK(in_job("  a = [1,\n    2\n    3];") == "E002 4:6 expected `,` or `]`, found `3`\n");
}

TEST_CASE("errors: what is not a declaration or an item", "[unit][parse]") {
  CHECK(brief("dtj 1;\nlaunch { nodes = 4; }\nconst a = 1;\n") == "E002 2:1 expected a declaration, found `launch`\n");
  CHECK(in_job("  5;") == "E002 3:3 expected a setting, a section, `const` or `fn`, found `5`\n");
  CHECK(brief("dtj 1;\nmodule M {\n  weight: par[C];\n}\n") ==
        "E002 3:3 expected `param`, `buffer`, `state`, `sub`, `const` or `fn`, found `weight`\n");
  CHECK(brief("dtj 1;\nconst a = 1;\nimport std.nn;\n") == "E002 3:1 an import stands before all declarations\n");
}

TEST_CASE("errors: operators", "[unit][parse]") {
  CHECK(in_fn("  a < b < c") == "E002 3:9 comparisons do not chain\n");
  CHECK(in_fn("  if a = b { 1 } else { 2 }") == "E002 3:8 expected `{`, found `=`\n");
  CHECK(in_fn("  x as f32 + 1") == "E002 3:11 expected `;` after this statement, found `+`\n");
  CHECK(in_fn("  a ^ b") == "E002 3:5 unexpected character `^`\n");
}

TEST_CASE("errors: three independent mistakes are three errors", "[unit][parse]") {
  CHECK(in_job("  a = ;\n  launch { nodes = 4 }\n  b = f(1 2);\n  c = 3;") ==
        "E002 3:7 expected a value after `=`, found `;`\n"
        "E002 4:21 expected `;` after this setting\n"
        "E002 5:11 expected `,` or `)`, found `2`\n");
  CHECK(brief("dtj 1;\nmodule M(a: ) {\n  param w: par[, 3];\n  sub x = ;\n}\n") ==
        "E002 2:13 expected a type after `:`, found `)`\n"
        "E002 3:16 expected a value after `[`, found `,`\n"
        "E002 4:11 expected a value after `=`, found `;`\n");
}

TEST_CASE("errors: a unit apart from its number", "[unit][parse]") {
  const Parsed parsed("dtj 1;\njob j { every = 30 min; memory = 16 GiB; stop = 500 steps; }\n");
  const auto diagnostics = parsed.sink.sorted();
  REQUIRE(diagnostics.size() == 3);
  CHECK(info(diagnostics[0].kind).code == "E303");
  CHECK(parsed.sources.file(diagnostics[0].range.file).slice(diagnostics[0].range) == "30 min");
  CHECK(diagnostics[0].range_label == "help: `30min`");
  CHECK(diagnostics[0].fixes.at(0).text == "30min");
  CHECK(diagnostics[1].fixes.at(0).text == "16GiB");
  CHECK(diagnostics[2].fixes.at(0).text == "500step");
  const auto& stop = parsed.decl<dtj::ast::JobDecl>().settings.at(2);
  CHECK(std::get<dtj::ast::QuantityLit>(stop.value->node).unit == "step");
}

TEST_CASE("errors: the edition", "[unit][parse]") {
  CHECK(brief("job j {}\n") == "E003 1:1 the edition is missing\n");
  CHECK(brief("") == "E003 1:1 the edition is missing\n");
  CHECK(brief("// note\ndtj 2;\njob j {}\n") == "E003 2:5 there is no edition 2\n");
  CHECK(brief("dtj\njob j {}\n") == "E003 1:1 the edition line is not whole\n");
  CHECK(brief("dtj 1\njob j {}\n") == "E003 1:1 the edition line is not whole\n");
}

TEST_CASE("errors: literals", "[unit][parse]") {
  CHECK(in_job("  a = 9223372036854775808;\n  b = 1e999;") ==
        "E006 3:7 `9223372036854775808` does not fit in a 64-bit integer\n"
        "E006 4:7 `1e999` does not fit in a 64-bit floating-point number\n");
  CHECK(in_job("  a = \"x\\q\";") == "E006 3:9 there is no escape `\\q`\n");
  CHECK(in_job("  a = \"abc;\n  b = 1;") == "E006 3:7 this string is not closed\n");
  CHECK(in_job("  a = 'x y';") == "E002 3:7 a string has double quotes\n");
}

TEST_CASE("errors: characters and comments", "[unit][parse]") {
  CHECK(in_job("  # note\n  a = 1;") == "E002 3:3 unexpected character `#`\n");
  CHECK(in_job("  a = 1;\xE2\x80\x8B") == "E002 3:9 unexpected character `U+200B`\n");
  CHECK(brief("dtj 1;\nconst a = 1; /* open\n") == "E002 2:14 this comment is not closed\n");
}

TEST_CASE("errors: the name of a placeholder", "[unit][parse]") {
  CHECK(brief("dtj 1;\nbind <Data-Dir>: path.dir;\n") == "E002 2:6 `<Data-Dir>` is not the name of a placeholder\n");
  CHECK(in_fn("  a <B> c") == "E002 3:7 comparisons do not chain\n");
}

TEST_CASE("errors: text that is not UTF-8 is reported and passed over", "[unit][parse]") {
  CHECK(in_job("  a = 1;\xFF") == "E002 3:9 unexpected character `U+FFFD`\n");
}
