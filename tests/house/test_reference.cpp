#include <fstream>
#include <sstream>

#include "compiler/check/check.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/site/site.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/snippet.hpp"
#include "tests/support/temp_dir.hpp"

// What the documents show is what the compiler takes. A fence says what its snippet is: `dtj` a whole file, `dtj-top`
// declarations, `dtj-job` parts of a job, `dtj-body` statements, `toml` a site profile. `fails=E101` behind it: the snippet
// gives this code.

namespace dtj {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(std::string(DTJ_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool is_of_language(const test::Snippet& snippet) {
  const std::string tag = test::tag_of(snippet.fence);
  return tag == "dtj" || tag == "dtj-top" || tag == "dtj-job" || tag == "dtj-body";
}

void check_profile(const test::Snippet& snippet) {
  const test::TempDir folder;
  source::SourceManager sources;
  diag::Sink sink;
  const auto profile = site::read_profile(folder.write("site.toml", snippet.text), "", sources, sink);
  INFO("the profile at line " << snippet.line << "\n" << diag::render_text(sink.sorted(), sources, {}));
  REQUIRE(profile.has_value());
  CHECK_FALSE(profile->bind.empty());
}

void check_snippet(const test::Snippet& snippet) {
  const std::string whole = test::complete_snippet(test::tag_of(snippet.fence), snippet.text);
  source::SourceManager sources;
  diag::Sink sink;
  check::CheckOptions options;
  options.bindings = test::bindings_of(snippet.fence);
  const auto file = parse::parse(sources.file(sources.add("snippet.dtj", whole)), sink);
  if (file && !sink.has_errors()) check::check(*file, sources, options, sink);
  const std::string said = diag::render_text(sink.sorted(), sources, {});
  INFO("the snippet at line " << snippet.line << " as compiled:\n" << whole << "\n" << said);
  const auto fails = snippet.fence.find("fails=");
  if (fails == std::string::npos) {
    CHECK_FALSE(sink.has_errors());
  } else {
    CHECK(said.find("error[" + snippet.fence.substr(fails + 6, 4) + "]") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("reference: every snippet of the language reference compiles", "[house]") {
  const auto snippets = test::fenced_snippets(read("grammar/README.md"));
  CHECK(snippets.size() >= 2);
  for (const test::Snippet& snippet : snippets) {
    if (snippet.fence == "toml") {
      check_profile(snippet);
      continue;
    }
    INFO("grammar/README.md:" << snippet.line << ": a fence is marked dtj, dtj-top, dtj-job, dtj-body or toml");
    REQUIRE(is_of_language(snippet));
    check_snippet(snippet);
  }
}

TEST_CASE("reference: the job of the README compiles", "[house]") {
  int num_jobs = 0;
  for (const test::Snippet& snippet : test::fenced_snippets(read("README.md"))) {
    const bool is_job = snippet.fence.empty() && snippet.text.rfind("dtj 1;", 0) == 0;
    if (!is_job && !is_of_language(snippet)) continue;
    check_snippet(is_job ? test::Snippet{"dtj", snippet.text, snippet.line} : snippet);
    ++num_jobs;
  }
  CHECK(num_jobs > 0);
}

TEST_CASE("reference: a snippet that does not compile is found", "[house]") {
  const auto snippets = test::fenced_snippets("text\n```dtj-top fails=E401\nconst a = b;\n```\n```sh\nls\n```\n");
  REQUIRE(snippets.size() == 2);
  CHECK(snippets[0].line == 2);
  CHECK(snippets[0].text == "const a = b;\n");
  check_snippet(snippets[0]);
  CHECK_FALSE(is_of_language(snippets[1]));
}

}  // namespace dtj
