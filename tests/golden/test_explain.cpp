#include <set>
#include <string>

#include "compiler/check/check.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/explain.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/site/site.hpp"
#include "compiler/source/source.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/snippet.hpp"
#include "tests/support/temp_dir.hpp"

// Every kind of diagnostic is explained, and every example of an explanation does what it says.

namespace dtj {
namespace {

/// Kinds whose explanation is still to be written: empty when the house is in order.
const std::set<std::string> not_explained_yet = {};

/// Kinds that no text can show, with the reason.
const std::set<std::string> without_examples = {
    "E001",  // the loader says it before there is a text
    "W902",  // depends on the repository around the file: tests/unit/site
};

/// Notes that come along with others: a placeholder that is judged has no value, and what another kind is about may be
/// something that cannot run yet.
std::set<std::string> without_company(std::set<std::string> codes, const std::string& code) {
  if (code == "E103" || code == "N902") codes.erase("N901");
  if (code != "N903") codes.erase("N903");
  return codes;
}

struct Checked {
  std::string whole;
  std::string text;
  std::set<std::string> codes;
};

Checked judge(const diag::Sink& sink, const source::SourceManager& sources, std::string whole) {
  Checked checked{std::move(whole), diag::render_text(sink.sorted(), sources, {}), {}};
  for (const auto& diagnostic : sink.sorted()) checked.codes.insert(std::string(diag::info(diagnostic.kind).code));
  return checked;
}

Checked check_profile(const diag::Example& example) {
  const test::TempDir folder;
  source::SourceManager sources;
  diag::Sink sink;
  const auto profile = site::read_profile(folder.write("site.toml", example.text), "", sources, sink);
  CHECK((profile.has_value() || sink.has_errors()));
  return judge(sink, sources, example.text);
}

Checked check_example(const diag::Example& example) {
  if (test::tag_of(example.fence) == "toml") return check_profile(example);
  std::string whole = test::complete_snippet(test::tag_of(example.fence), example.text);
  source::SourceManager sources;
  diag::Sink sink;
  const auto file = parse::parse(sources.file(sources.add(DTJ_SOURCE_DIR "/tests/golden/check/example.dtj", whole)), sink);
  check::CheckOptions options;
  options.bindings = test::bindings_of(example.fence);
  if (file && !sink.has_errors()) check::check(*file, sources, options, sink);
  return judge(sink, sources, std::move(whole));
}

}  // namespace

TEST_CASE("explain: every kind has a text that says what and why", "[golden][explain]") {
  for (std::size_t k = 0; k < diag::num_kinds(); ++k) {
    const diag::KindInfo& kind = diag::info(static_cast<diag::Kind>(k));
    const std::string code(kind.code);
    const diag::Explanation* explanation = diag::find_explanation(code);
    INFO("write `## " << code << "` (" << std::string(kind.name) << ") in compiler/diagnostics/explain/*.md");
    if (not_explained_yet.count(code) != 0) {
      CHECK(explanation == nullptr);
      continue;
    }
    REQUIRE(explanation != nullptr);
    CHECK_FALSE(explanation->what.empty());
    CHECK_FALSE(explanation->why.empty());
    CHECK(explanation->fails.has_value() == (without_examples.count(code) == 0));
    CHECK(explanation->passes.has_value() == (without_examples.count(code) == 0));
    CHECK(diag::render_explanation(*explanation).find(std::string(kind.summary)) != std::string::npos);
  }
}

TEST_CASE("explain: no text is left over from a kind that is gone, and none is written twice", "[golden][explain]") {
  std::set<std::string> codes, seen;
  for (std::size_t k = 0; k < diag::num_kinds(); ++k) codes.insert(std::string(diag::info(static_cast<diag::Kind>(k)).code));
  for (const diag::Explanation& explanation : diag::explanations()) {
    INFO(explanation.code);
    CHECK(codes.count(explanation.code) == 1);
    CHECK(seen.insert(explanation.code).second);
  }
}

TEST_CASE("explain: the failing example gives its code and no other", "[golden][explain]") {
  for (const diag::Explanation& explanation : diag::explanations()) {
    if (!explanation.fails) continue;
    const Checked checked = check_example(*explanation.fails);
    INFO(explanation.code << "\n" << checked.whole << "\n" << checked.text);
    CHECK(without_company(checked.codes, explanation.code) == std::set<std::string>{explanation.code});
  }
}

TEST_CASE("explain: the passing example gives nothing", "[golden][explain]") {
  for (const diag::Explanation& explanation : diag::explanations()) {
    if (!explanation.passes) continue;
    const Checked checked = check_example(*explanation.passes);
    INFO(explanation.code << "\n" << checked.whole << "\n" << checked.text);
    CHECK(without_company(checked.codes, "").empty());
  }
}

TEST_CASE("explain: codes are found in either case", "[golden][explain]") {
  CHECK(diag::find_explanation("e101") == diag::find_explanation("E101"));
  CHECK(diag::find_explanation("E999") == nullptr);
  CHECK(diag::find_explanation("") == nullptr);
}

}  // namespace dtj
