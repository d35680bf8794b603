#include "compiler/diagnostics/diagnostics.hpp"
#include "tests/support/catch.hpp"

using dtj::diag::Diagnostic;
using dtj::diag::Kind;
using dtj::diag::render_text;
using dtj::source::FileId;
using dtj::source::Range;
using dtj::source::SourceManager;

namespace {

/// The range of the first `needle` in the file.
Range find(const SourceManager& sources, FileId id, std::string_view needle) {
  const std::size_t at = sources.file(id).text().find(needle);
  REQUIRE(at != std::string_view::npos);
  return Range::of(id, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + needle.size()));
}

}  // namespace

TEST_CASE("render_text: a mismatch between two places", "[unit][diagnostics]") {
  SourceManager sources;
  const std::string text = std::string(47, '\n') +
                           "    nodes = 4; gpus_per_node = 8; procs_per_gpu = 1;\n" + std::string(7, '\n') +
                           "  mesh { dp = 16; tp = 1; pp = 1; }\n";
  const auto id = sources.add("gpt2.dtj", text);
  Diagnostic diagnostic(Kind::world_size_mismatch, find(sources, id, "{ dp = 16; tp = 1; pp = 1; }"),
                        "mesh does not match the launch contract");
  diagnostic.under("16 * 1 * 1 = 16")
      .label(find(sources, id, "nodes = 4; gpus_per_node = 8; procs_per_gpu = 1;"), "4 * 8 * 1 = 32 ranks")
      .help("write `dp = 32`, or lower `nodes` to 2");
  CHECK(render_text({diagnostic}, sources, {}) == R"(error[E101]: mesh does not match the launch contract
  --> gpt2.dtj:56:8
48 |     nodes = 4; gpus_per_node = 8; procs_per_gpu = 1;
   |     ------------------------------------------------ 4 * 8 * 1 = 32 ranks
56 |   mesh { dp = 16; tp = 1; pp = 1; }
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 16 * 1 * 1 = 16
   = help: write `dp = 32`, or lower `nodes` to 2
1 error
)");
}

TEST_CASE("render_text: two labels on one line, and a note of several lines", "[unit][diagnostics]") {
  SourceManager sources;
  const auto id = sources.add("a.dtj", "x = dot(left, right);\n");
  Diagnostic diagnostic(Kind::shape_mismatch, find(sources, id, "right"), "shapes disagree in `dot`");
  diagnostic.under("last dim 3").label(find(sources, id, "left"), "last dim 2").note("first\nsecond");
  CHECK(render_text({diagnostic}, sources, {}) == R"(error[E201]: shapes disagree in `dot`
  --> a.dtj:1:15
 1 | x = dot(left, right);
   |         ----  ^^^^^ last dim 3
   |         |
   |         last dim 2
   = note: first
        second
1 error
)");
}

TEST_CASE("render_text: a label in another file", "[unit][diagnostics]") {
  SourceManager sources;
  const auto job = sources.add("job.dtj", "Liner(3)\n");
  const auto library = sources.add("std/nn.dtj", "\nmodule Linear\n");
  Diagnostic diagnostic(Kind::unknown_name, find(sources, job, "Liner"), "`Liner` is not known");
  diagnostic.label(find(sources, library, "Linear"), "a similar name");
  CHECK(render_text({diagnostic}, sources, {}) == R"(error[E401]: `Liner` is not known
  --> job.dtj:1:1
 1 | Liner(3)
   | ^^^^^
  ::: std/nn.dtj:2:8
 2 | module Linear
   |        ------ a similar name
1 error
)");
}

TEST_CASE("render_text: tabs, wide characters and control characters keep the carets in place", "[unit][diagnostics]") {
  SourceManager sources;
  const auto id = sources.add("a.dtj", "\t\xE4\xB8\xAD\xC3\xA9\x1b = bad;\n");
  const Diagnostic diagnostic(Kind::wrong_type, find(sources, id, "bad"), "wrong");
  CHECK(render_text({diagnostic}, sources, {}) == "error[E304]: wrong\n"
                                                   "  --> a.dtj:1:11\n"
                                                   " 1 |     \xE4\xB8\xAD\xC3\xA9\xEF\xBF\xBD = bad;\n"
                                                   "   |            ^^^\n"
                                                   "1 error\n");
}

TEST_CASE("render_text: a range of several lines shows its first", "[unit][diagnostics]") {
  SourceManager sources;
  const auto id = sources.add("a.dtj", "job x {  \n  a = 1;\n}\n");
  const Diagnostic diagnostic(Kind::duplicate_name, find(sources, id, "job x {  \n  a = 1;\n}"), "twice");
  CHECK(render_text({diagnostic}, sources, {}) == R"(error[E403]: twice
  --> a.dtj:1:1
)" " 1 | job x {  \n"
                                                   R"(   | ^^^^^^^
1 error
)");
}

TEST_CASE("render_text: the end of the file gets a caret, and a long line is cut", "[unit][diagnostics]") {
  SourceManager sources;
  const auto id = sources.add("a.dtj", std::string(500, 'a') + "!" + std::string(500, 'b'));
  const std::string end = render_text({{Kind::syntax_error, Range::of(id, 1001, 1001), "end"}}, sources, {});
  CHECK(end.find("bbb\n   |" + std::string(1 + 3 + 40, ' ') + "^\n") != std::string::npos);
  const std::string cut = render_text({{Kind::syntax_error, Range::of(id, 500, 501), "cut"}}, sources, {});
  CHECK(cut.find(" 1 | ..." + std::string(40, 'a') + "!" + std::string(119, 'b') + "...\n") != std::string::npos);
  CHECK(cut.find("\n   | " + std::string(43, ' ') + "^\n") != std::string::npos);
}

TEST_CASE("render_text: a diagnostic without a range has no snippet", "[unit][diagnostics]") {
  const SourceManager sources;
  Diagnostic diagnostic(Kind::cannot_read_file, {}, "cannot read `x.dtj`");
  diagnostic.help("look again");
  CHECK(render_text({diagnostic}, sources, {}) == "error[E001]: cannot read `x.dtj`\n   = help: look again\n1 error\n");
}

TEST_CASE("render_text: stops after the maximum of errors, and sums up", "[unit][diagnostics]") {
  SourceManager sources;
  const auto id = sources.add("a.dtj", "abcdef");
  std::vector<Diagnostic> diagnostics;
  for (std::uint32_t i = 0; i < 5; ++i) diagnostics.emplace_back(Kind::wrong_type, Range::of(id, i, i + 1), "wrong");
  dtj::diag::RenderOptions options;
  options.max_errors = 2;
  const std::string text = render_text(diagnostics, sources, options);
  CHECK(text.find(":1:2\n") != std::string::npos);
  CHECK(text.find(":1:3\n") == std::string::npos);
  CHECK(text.substr(text.size() - 27) == "and 3 more errors\n5 errors\n");
  CHECK(render_text({}, sources, {}).empty());
}

TEST_CASE("render_text: colour wraps the same text", "[unit][diagnostics]") {
  SourceManager sources;
  const auto id = sources.add("a.dtj", "abc");
  const Diagnostic diagnostic(Kind::wrong_type, Range::of(id, 0, 1), "wrong");
  dtj::diag::RenderOptions options;
  options.colour = true;
  const std::string coloured = render_text({diagnostic}, sources, options);
  std::string plain;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i);
    } else {
      plain += coloured[i];
    }
  }
  CHECK(coloured != plain);
  CHECK(plain == render_text({diagnostic}, sources, {}));
}
