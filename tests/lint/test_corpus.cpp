#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/lint/score.hpp"
#include "tests/support/catch.hpp"

using dtj::lint::Tier;

namespace {

const std::string folder = DTJ_SOURCE_DIR "/tests/lint/corpus";

/// `own`: the files that were written for this project; the others came with the policy.
dtj::lint_test::Score score_of(Tier tier, bool own) {
  std::vector<dtj::lint_test::Label> labels = dtj::lint_test::read_labels(folder + "/labels.jsonl");
  const auto is_other = [&](const std::string& file) { return (file.rfind("own", 0) == 0) != own; };
  labels.erase(std::remove_if(labels.begin(), labels.end(), [&](const auto& label) { return is_other(label.file); }), labels.end());
  dtj::lint::Request request;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "labels.jsonl" && !is_other(name)) request.paths.push_back(entry.path().string());
  }
  request.tier = tier;
  request.config = DTJ_SOURCE_DIR "/tests/lint/corpus.toml";
  const dtj::lint::Report report = dtj::lint::check(request);
  REQUIRE_FALSE(report.failure);
  return dtj::lint_test::score(std::move(labels), report.findings, tier, folder);
}

void require(const dtj::lint_test::Score& score, double precision, double recall, std::size_t clean_flagged) {
  std::string text;
  for (const auto& line : score.wrong) text += "\n  false  " + line;
  for (const auto& line : score.missed) text += "\n  missed " + line;
  INFO("precision " << score.precision() << ", recall " << score.recall() << ", " << score.leaks << " leaks, clean files flagged "
                    << score.clean_flagged << " of " << score.clean_files << text);
  CHECK(score.leaks > 0);
  CHECK(score.precision() >= precision);
  CHECK(score.recall() >= recall);
  CHECK(score.clean_flagged <= clean_flagged);
}

}  // namespace

TEST_CASE("corpus: the core tier finds what the policy calls a leak, and nothing else", "[lint]") {
  require(score_of(Tier::core, false), 0.98, 0.98, 0);
  require(score_of(Tier::core, true), 0.98, 0.98, 0);
}

TEST_CASE("corpus: the tier all also finds live use, results and job numbers", "[lint]") {
  require(score_of(Tier::all, false), 0.95, 0.95, 0);
  require(score_of(Tier::all, true), 0.95, 0.95, 0);
}

TEST_CASE("corpus: every format is there", "[lint]") {
  std::map<std::string, int> formats;
  int own = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++formats[entry.path().extension().string()];
    own += entry.path().filename().string().rfind("own", 0) == 0 ? 1 : 0;
  }
  CHECK(own >= 60);
  for (const char* format : {".sbatch", ".pbs", ".lsf", ".pjm", ".cobalt", ".sh", ".csh", ".yaml", ".toml", ".json", ".ini", ".env", ".conf", ".py", ".md",
                             ".rst", ".log", ".out", ".txt", ".csv", ".dtj", ".ipynb", ".hostfile"}) {
    INFO(format);
    CHECK(formats[format] > 0);
  }
}
