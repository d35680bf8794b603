#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/parse/parse.hpp"
#include "dtj/lint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_dir.hpp"

// --fix on every file of the corpus.

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream input(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(input), {});
}

dtj::lint::Report run(const std::vector<std::string>& paths, bool is_fix) {
  dtj::lint::Request request;
  request.paths = paths;
  request.tier = dtj::lint::Tier::all;
  request.config = DTJ_SOURCE_DIR "/tests/lint/corpus.toml";
  request.fix = is_fix;
  dtj::lint::Report report = dtj::lint::check(request);
  REQUIRE_FALSE(report.failure);
  return report;
}

/// `fixed` is `original` with every finding replaced by something that looks like a placeholder, and nothing else.
bool differs_only_at(const std::vector<dtj::lint::Finding>& findings, const std::string& original, const std::string& fixed) {
  std::size_t from = 0, to = 0;
  for (const auto& finding : findings) {
    const std::size_t kept = finding.offset - from;
    if (fixed.compare(to, kept, original, from, kept) != 0) return false;
    from = finding.offset + finding.value.size();
    to += kept;
    if (fixed.compare(to, 2, "\"<") == 0) ++to;
    if (fixed.compare(to, 1, "<") != 0 && fixed.compare(to, 7, "${SITE_") != 0) return false;
    const std::size_t close = fixed.find_first_of(">}", to);
    if (close == std::string::npos) return false;
    to = close + 1;
    if (to < fixed.size() && fixed[to] == '"' && (from >= original.size() || original[from] != '"')) ++to;
  }
  return fixed.compare(to, std::string::npos, original, from, std::string::npos) == 0;
}

bool parses(const fs::path& path) {
  const std::string extension = path.extension().string(), text = read(path);
  if (extension == ".json" || extension == ".ipynb") return nlohmann::json::accept(text);
  if (extension == ".sh" || extension == ".sbatch" || extension == ".pbs" || extension == ".lsf" || extension == ".bash" || extension == ".slurm") {
    return std::system(fmt::format("bash -n '{}' 2>/dev/null", path.string()).c_str()) == 0;
  }
  if (extension == ".dtj") {
    dtj::source::SourceManager sources;
    dtj::diag::Sink sink;
    dtj::parse::parse(sources.file(sources.add(path.string(), text)), sink);
    return !sink.has_errors();
  }
  return true;
}

}  // namespace

TEST_CASE("fix: a fixed file has no findings, differs only there, still parses, and stays as it is", "[lint]") {
  dtj::test::TempDir folder;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(DTJ_SOURCE_DIR "/tests/lint/corpus")) {
    if (entry.path().filename() == "labels.jsonl") continue;
    const fs::path copy = fs::path(folder.path()) / entry.path().filename();
    fs::copy_file(entry.path(), copy);
    fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add);
    paths.push_back(copy.string());
  }
  std::map<std::string, std::vector<dtj::lint::Finding>> findings;
  std::map<std::string, std::string> originals;
  std::map<std::string, bool> parsed;
  for (const auto& path : paths) {
    originals[path] = read(path);
    parsed[path] = parses(path);
  }
  for (auto& finding : run(paths, false).findings) findings[finding.file].push_back(finding);
  CHECK(findings.size() > 80);

  const dtj::lint::Report fixed = run(paths, true);
  CHECK(fixed.num_errors == 0);
  std::string remaining;
  for (const auto& finding : run(paths, false).findings) {
    remaining += fmt::format("\n  {}:{}: {} `{}`", fs::path(finding.file).filename().string(), finding.line, finding.kind, finding.value);
  }
  INFO("after the fix:" << remaining);
  CHECK(remaining.empty());
  std::map<std::string, std::string> once;
  for (const auto& path : paths) {
    INFO(path);
    once[path] = read(path);
    // A job also gets declarations of its placeholders: test_fix_job.cpp.
    if (!path.ends_with(".dtj")) CHECK(differs_only_at(findings[path], originals[path], once[path]));
    CHECK((parses(path) || !parsed[path]));
  }
  run(paths, true);
  for (const auto& path : paths) CHECK(read(path) == once[path]);
}

TEST_CASE("fix: the same value gets the same placeholder in every file", "[lint]") {
  dtj::test::TempDir folder;
  const std::string a = (fs::path(folder.path()) / "a.sbatch").string(), b = (fs::path(folder.path()) / "b.md").string();
  std::ofstream(a) << "#SBATCH --partition=kiteq_a\n#SBATCH --account=kite-lab3\nsrun -p kiteq_b hostname\n";
  std::ofstream(b) << "`sbatch -p kiteq_b -A kite-lab3 job.sbatch`\n";
  const dtj::lint::Report report = run({a, b}, true);
  CHECK(report.replaced.at("PARTITION") == "kiteq_a");
  CHECK(report.replaced.at("PARTITION_2") == "kiteq_b");
  CHECK(read(a) == "#SBATCH --partition=<PARTITION>\n#SBATCH --account=<ACCOUNT>\nsrun -p ${SITE_PARTITION_2} hostname\n");
  CHECK(read(b) == "`sbatch -p <PARTITION_2> -A <ACCOUNT> job.sbatch`\n");
}
