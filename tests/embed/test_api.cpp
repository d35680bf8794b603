#include "dtj/dtj.hpp"

#include <algorithm>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"

// The public API as a host program sees it.

using namespace dtj::test;
using dtj::Compilation;

namespace {

dtj::CompileOptions bindings(const TempDir& dir) {
  dtj::CompileOptions options;
  options.bindings = {{"data", dir.path().string()}, {"out", dir.file("out")}};
  return options;
}

}  // namespace

TEST_CASE("api: compiles a job from text and shows its plan", "[embed]") {
  TempDir dir;
  MlpJob job;
  job.ranks = 2;
  const auto compilation = Compilation::from_text("host.dtj", mlp_job(job), Compilation::Stage::plan, bindings(dir));
  INFO(compilation.render_text(false));
  REQUIRE(compilation.ok());
  CHECK(compilation.job_name() == "tiny_mlp");
  CHECK(compilation.world_size() == 2);
  const auto plan = nlohmann::json::parse(compilation.plan_json());
  CHECK(plan.at("world_size") == 2);
  CHECK(plan.at("parameters") == 64 * 24 + 24 + 24 * 4 + 4);
  CHECK_FALSE(compilation.plan_text().empty());
}

TEST_CASE("api: reports every mistake with its place", "[embed]") {
  TempDir dir;
  std::string text = mlp_job({});
  const auto at = text.find("ranks_per_node");
  text.replace(at, 14, "ranks_per_nod");
  const auto compilation = Compilation::from_text("host.dtj", text, Compilation::Stage::check, bindings(dir));
  CHECK_FALSE(compilation.ok());
  const auto& all = compilation.diagnostics();
  const auto found = std::find_if(all.begin(), all.end(), [](const auto& info) { return info.code == "E402"; });
  REQUIRE(found != all.end());
  const dtj::DiagnosticInfo& first = *found;
  CHECK(first.file == "host.dtj");
  CHECK(first.line > 1);
  CHECK(first.end_column > first.column);
  CHECK_FALSE(first.helps.empty());
  const std::string json = compilation.render_json();
  std::istringstream lines(json);
  for (std::string line; std::getline(lines, line);) CHECK(nlohmann::json::accept(line));
}

TEST_CASE("api: lists the placeholders and refuses to run without their values", "[embed]") {
  const auto compilation = Compilation::from_text("host.dtj", mlp_job({}), Compilation::Stage::check, {});
  REQUIRE(compilation.ok());
  const auto placeholders = compilation.placeholders();
  REQUIRE(placeholders.size() == 2);
  CHECK(placeholders[0].name == "data");
  CHECK(placeholders[0].type == "path.dir");
  CHECK_FALSE(placeholders[0].value);
  const dtj::RunResult result = dtj::run_job(compilation, {}, {});
  CHECK(result.outcome == dtj::RunOutcome::bad_input);
}

TEST_CASE("api: runs a rank with callbacks, and stops when asked", "[embed]") {
  TempDir dir;
  write_idx(dir, "train", {});
  write_idx(dir, "t10k", {});
  MlpJob job;
  job.steps = 200;
  job.with_eval = false;
  const auto compilation = Compilation::from_text("host.dtj", mlp_job(job), Compilation::Stage::plan, bindings(dir));
  REQUIRE(compilation.ok());
  std::atomic<int> stop{0};
  std::int64_t steps_seen = 0;
  std::vector<std::int64_t> checkpoints;
  dtj::RunCallbacks callbacks;
  callbacks.on_step = [&](const dtj::StepInfo& info) {
    steps_seen = info.step;
    if (info.step == 25) stop = 2;
  };
  callbacks.on_checkpoint = [&](std::int64_t step, const std::string& path) {
    CHECK(std::filesystem::exists(path));
    checkpoints.push_back(step);
  };
  dtj::RunOptions options;
  options.stop_request = &stop;
  const dtj::RunResult stopped = dtj::run_job(compilation, options, callbacks);
  INFO(stopped.message);
  CHECK(stopped.outcome == dtj::RunOutcome::preempted);
  CHECK(steps_seen >= 25);
  CHECK(steps_seen <= 26);
  REQUIRE_FALSE(checkpoints.empty());
  CHECK(checkpoints.back() == steps_seen);

  stop = 0;
  callbacks.on_step = {};
  const dtj::RunResult rest = dtj::run_job(compilation, options, callbacks);
  INFO(rest.message);
  CHECK(rest.outcome == dtj::RunOutcome::finished);
  CHECK(rest.resumed_from == steps_seen);
  CHECK(rest.steps == 200);

  // A run from the start never writes into the checkpoints of another.
  dtj::RunOptions fresh = options;
  fresh.resume = false;
  CHECK(dtj::run_job(compilation, fresh, {}).outcome == dtj::RunOutcome::bad_input);
}

TEST_CASE("api: a launch without ranks is told, not aborted", "[embed]") {
  TempDir dir;
  MlpJob job;
  job.ranks = 2;
  const auto compilation = Compilation::from_text("host.dtj", mlp_job(job), Compilation::Stage::plan, bindings(dir));
  REQUIRE(compilation.ok());
  CHECK(dtj::launch_job(compilation, {}, {}).outcome == dtj::RunOutcome::bad_input);
  dtj::LaunchOptions options;
  options.rank_command = {"/bin/true"};
  const dtj::LaunchResult result = dtj::launch_job(compilation, options, {});
  CHECK(result.outcome == dtj::RunOutcome::bad_input);
  CHECK(result.message.find("must call run_rank") != std::string::npos);
}
