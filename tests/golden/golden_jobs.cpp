#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/check/check.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/source/source.hpp"
#include "tests/support/catch.hpp"

// The whole jobs of tests/golden/jobs check as they are. Each variant changes one text of a job, which makes one mistake;
// it must be found at its line and column, and what the help says to write must make the file right again.

namespace dtj {
namespace {

namespace fs = std::filesystem;

struct Variant {
  std::string job;
  std::string written, instead;
  std::string errors;  ///< "E101 50:10", several with a comma between; the position is that of the changed file
  bool has_fix = true;
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {
#include "tests/golden/job_variants.inc"
  };
  return all;
}

std::string read_job(const std::string& name) {
  std::ifstream in(fs::path(DTJ_SOURCE_DIR) / "tests/golden/jobs" / (name + ".dtj"), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Checked {
  source::SourceManager sources;
  diag::Sink sink;
  std::optional<check::CheckedJob> job;

  Checked(const std::string& name, const std::string& text) {
    fs::current_path(fs::path(DTJ_SOURCE_DIR) / "tests/golden/jobs");
    const source::FileId id = sources.add(name + ".dtj", text);
    const auto file = parse::parse(sources.file(id), sink);
    if (file) job = check::check(*file, sources, {}, sink);
  }

  std::vector<diag::Diagnostic> errors() const {
    std::vector<diag::Diagnostic> found;
    for (const diag::Diagnostic& each : sink.sorted())
      if (diag::info(each.kind).severity == diag::Severity::error) found.push_back(each);
    return found;
  }

  std::string positions() const {
    std::string text;
    for (const diag::Diagnostic& each : errors()) {
      const source::Position at = sources.file(each.range.file).position(each.range.begin);
      text += (text.empty() ? "" : ", ") + std::string(diag::info(each.kind).code) + " " + std::to_string(at.line) + ":" + std::to_string(at.column);
    }
    return text;
  }

  std::string rendered() const { return diag::render_text(sink.sorted(), sources, {}); }
};

std::string replaced(std::string text, const std::string& written, const std::string& instead) {
  const std::size_t at = text.find(written);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(written, at + 1) == std::string::npos);
  return text.replace(at, written.size(), instead);
}

/// Every fix, the last first, so that the others keep their places.
std::string with_fixes(std::string text, const std::vector<diag::Diagnostic>& errors) {
  std::vector<diag::Fix> fixes;
  for (const diag::Diagnostic& error : errors) fixes.insert(fixes.end(), error.fixes.begin(), error.fixes.end());
  std::sort(fixes.begin(), fixes.end(), [](const diag::Fix& a, const diag::Fix& b) { return a.range.begin > b.range.begin; });
  for (const diag::Fix& fix : fixes) text.replace(fix.range.begin, fix.range.end - fix.range.begin, fix.text);
  return text;
}

/// A fix is what the help says, not something of its own.
void check_help_says(const diag::Diagnostic& error) {
  REQUIRE_FALSE(error.fixes.empty());
  for (const diag::Fix& fix : error.fixes) {
    const std::string text = fix.text.substr(0, fix.text.find_last_not_of(" ;") + 1);
    INFO(fix.text);
    CHECK(std::any_of(error.helps.begin(), error.helps.end(), [&](const std::string& help) { return help.find(text) != std::string::npos; }));
  }
}

}  // namespace

TEST_CASE("jobs: the whole jobs have no mistakes", "[golden]") {
  for (const char* name : {"fashion_cnn", "finetune", "gpt2_124m"}) {
    const Checked checked(name, read_job(name));
    INFO(name << "\n" << checked.rendered());
    CHECK(checked.errors().empty());
    CHECK(checked.job.has_value());
  }
}

TEST_CASE("jobs: one mistake gives its error at its place", "[golden]") {
  for (const Variant& variant : variants()) {
    const Checked checked(variant.job, replaced(read_job(variant.job), variant.written, variant.instead));
    INFO(variant.job << ": " << variant.instead << "\n" << checked.rendered());
    CHECK(checked.positions() == variant.errors);
    for (const diag::Diagnostic& error : checked.errors()) CHECK_FALSE(error.helps.empty());
  }
}

TEST_CASE("jobs: what the help says to write makes the file right", "[golden]") {
  for (const Variant& variant : variants()) {
    if (!variant.has_fix) continue;
    const std::string broken = replaced(read_job(variant.job), variant.written, variant.instead);
    const Checked checked(variant.job, broken);
    INFO(variant.job << ": " << variant.instead << "\n" << checked.rendered());
    for (const diag::Diagnostic& error : checked.errors()) check_help_says(error);
    const Checked fixed(variant.job, with_fixes(broken, checked.errors()));
    INFO("after the fix\n" << fixed.rendered());
    CHECK(fixed.errors().empty());
  }
}

TEST_CASE("jobs: what decides something about the training is not mended without asking", "[golden]") {
  const std::vector<std::string> one_answer = {"E506", "E511"};  // whatever was meant, this is what it says
  for (const Variant& variant : variants()) {
    const Checked checked(variant.job, replaced(read_job(variant.job), variant.written, variant.instead));
    INFO(variant.job << ": " << variant.instead);
    for (const diag::Diagnostic& error : checked.errors()) {
      const std::string code(diag::info(error.kind).code);
      const bool is_decision = code[1] == '1' || code[1] == '5';
      if (!is_decision || std::find(one_answer.begin(), one_answer.end(), code) != one_answer.end()) continue;
      for (const diag::Fix& fix : error.fixes) CHECK(fix.applicability == diag::Applicability::maybe_incorrect);
    }
  }
}

}  // namespace dtj
