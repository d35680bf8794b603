#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "dtj/lint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

namespace {

namespace fs = std::filesystem;
using dtj::lint::Report;

const fs::path corpus = DTJ_SOURCE_DIR "/tests/lint/corpus";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Report run(const std::vector<std::string>& paths, bool fix, const std::string& profile = "") {
  dtj::lint::Request request;
  request.paths = paths;
  request.tier = dtj::lint::Tier::all;
  request.config = DTJ_SOURCE_DIR "/tests/lint/corpus.toml";
  request.fix = fix;
  request.profile = profile;
  return dtj::lint::check(request);
}

/// What stands between the findings is still there, in order.
bool keeps_the_rest(const std::string& before, const std::string& after, const std::vector<dtj::lint::Finding>& findings) {
  std::size_t at = 0, in_after = 0;
  for (const auto& finding : findings) {
    const std::string kept = before.substr(at, finding.offset - at);
    const auto found = after.find(kept, in_after);
    if (found == std::string::npos) return false;
    in_after = found + kept.size();
    at = finding.offset + finding.value.size();
  }
  const std::string tail = before.substr(at);
  return after.size() >= tail.size() && after.compare(after.size() - tail.size(), tail.size(), tail) == 0;
}

bool is_good_shell(const std::string& path, const dtj::test::TempDir& dir) {
  const std::string extension = fs::path(path).extension().string();
  const auto kinds = {".sh", ".bash", ".sbatch", ".slurm", ".pbs", ".lsf", ".pjm"};
  if (std::none_of(kinds.begin(), kinds.end(), [&](const char* kind) { return extension == kind; })) return false;
  return dtj::test::Process({"bash", "-n", path}, dir.file("bash")).finish().exit_code == 0;
}

const char* const leaky_job = R"(dtj 1;
// Runs on the gpu-a100x partition; reached acc 0.923 on node bc12n07.
import std.nn.{Linear, cross_entropy};
import std.optim.{SGD};
import std.data.{idx_images};
bind <data>: path.dir = "/gpfs/proj042/jdoe42/data" "images";
module Net(classes: int) {
  sub head = Linear(784, classes);
  fn forward(x: act[B, 1, 28, 28]) -> act[B, classes] { x |> flatten(from = 1) |> head }
}
job tiny {
  launch {
    method = slurm(partition = "gpu-a100x", account = "proj042", qos = "prio7", signal_before = 5min);
    nodes = 1;
    ranks_per_node = 2;
    walltime = 1h;
  }
  mesh { dp = 2; }
  model = Net(classes = 10);
  data train { source = idx_images("/gpfs/proj042/jdoe42/data"); global_batch = 128sample; sampler = shuffle(seed = 1); }
  fn objective(m, batch) { {loss = cross_entropy(m(batch.image), batch.label)} }
  optimizer = SGD(lr = 0.1);
  train { stop = 10epoch; }
  checkpoint { dir = "/gpfs/proj042/out"; every = 1epoch; save = [params, optimizer, schedule, rng, sampler]; }
}
)";

}  // namespace

TEST_CASE("fix: every file of the corpus is clean afterwards, differs at the findings only, and stays so", "[lint]") {
  const dtj::test::TempDir dir;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    if (entry.path().filename() == "labels.jsonl") continue;
    paths.push_back(dir.write(entry.path().filename().string(), read(entry.path())));
  }
  std::sort(paths.begin(), paths.end());
  std::map<std::string, std::string> before;
  std::map<std::string, bool> was_good_shell;
  for (const std::string& path : paths) {
    before[path] = read(path);
    was_good_shell[path] = is_good_shell(path, dir);
  }
  const Report first = run(paths, false);
  REQUIRE_FALSE(first.failure);
  REQUIRE(first.findings.size() > 200);
  REQUIRE_FALSE(run(paths, true).failure);
  const Report again = run(paths, false);
  for (const auto& finding : again.findings) {
    INFO(finding.file << ":" << finding.line << " " << finding.kind << " `" << finding.value << "`");
    CHECK(false);
  }
  for (const std::string& path : paths) {
    INFO(fs::path(path).filename().string());
    std::vector<dtj::lint::Finding> mine;
    std::copy_if(first.findings.begin(), first.findings.end(), std::back_inserter(mine), [&](const auto& f) { return f.file == path; });
    const std::string after = read(path);
    CHECK((mine.empty() ? after == before[path] : keeps_the_rest(before[path], after, mine)));
    if (was_good_shell[path]) CHECK(is_good_shell(path, dir));
    if (path.ends_with(".json")) CHECK(nlohmann::json::accept(after) == nlohmann::json::accept(before[path]));
  }
  REQUIRE_FALSE(run(paths, true).failure);
  for (const std::string& path : paths) before[path] = read(path);
  REQUIRE_FALSE(run(paths, true).failure);
  for (const std::string& path : paths) CHECK(read(path) == before[path]);
}

TEST_CASE("fix: a job keeps compiling, and its profile binds the values again", "[lint]") {
  const dtj::test::TempDir dir;
  const std::string path = dir.write("job.dtj", leaky_job);
  const std::string profile = dir.file("private/site.toml");
  fs::create_directories(dir.path() / "private");
  CHECK(run({path}, false).findings.size() >= 8);
  REQUIRE_FALSE(run({path}, true, profile).failure);
  CHECK(run({path}, false).findings.empty());
  dtj::CompileOptions options;
  options.site_profile = profile;
  const auto fixed = dtj::Compilation::from_file(path, dtj::Compilation::Stage::check, options);
  INFO(read(path) << fixed.render_text(false));
  CHECK(fixed.ok());
  CHECK(read(path).find("partition = <partition>") != std::string::npos);
  const auto& known = fixed.placeholders();
  const auto is_partition = [](const auto& placeholder) { return placeholder.name == "partition" && placeholder.value == "gpu-a100x"; };
  CHECK(std::any_of(known.begin(), known.end(), is_partition));
}
