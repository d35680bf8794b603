#include <filesystem>
#include <fstream>

#include "tests/unit/run_trainer/linear_plan.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

void require_all_fail(const std::vector<RankRun>& runs, ErrorCode code, const std::string& message) {
  for (const RankRun& run : runs) {
    REQUIRE(run.error);
    CHECK(run.error->code == code);
    CHECK_THAT(run.error->to_string(), contains(message));
    CHECK(run.losses.empty());
  }
}

}  // namespace

TEST_CASE("train: numbers that are not finite end the run and spare the last checkpoint", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(2, "out");
  options.explodes = true;
  options.checkpoint_every = {{1, ProgressUnit::step}};
  const auto runs = run_ranks(options);
  for (const RankRun& run : runs) {
    REQUIRE(run.summary);
    CHECK(run.summary->status == run::RunStatus::diverged);
    CHECK(run.summary->steps == runs[0].summary->steps);
    const std::string at = " at step " + std::to_string(run.summary->steps + 1);
    CHECK_THAT(run.summary->message, contains("diverged") && contains(at));
  }
  // The newest checkpoint is of the last good step and still valid.
  const auto again = run_ranks(options);
  REQUIRE(again[0].summary);
  CHECK(again[0].summary->status == run::RunStatus::diverged);
  CHECK(again[0].summary->resumed_from == runs[0].summary->steps);
  CHECK(again[0].summary->message == runs[0].summary->message);
}

TEST_CASE("train: the message of a divergence names metric and value", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options();
  auto plan = make_linear_plan(options);
  plan.tensors[1].init = {InitKind::constant, 1e30, 0};  // its square is infinite in f32
  const auto run = run_ranks({plan}, {}, 1)[0];
  REQUIRE(run.summary);
  CHECK(run.summary->message == "training diverged: `loss` is inf at step 1");
}

TEST_CASE("train: bad data is one error on all ranks", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(2);
  options.data = place.dir.file("nowhere");
  require_all_fail(run_ranks(options), ErrorCode::not_found, "nowhere");
  options = place.options(2);
  options.global_batch = 1024;
  require_all_fail(run_ranks(options), ErrorCode::invalid_argument, "smaller than one global batch");
}

TEST_CASE("train: an error of one rank's files is known to all", "[unit][run]") {
  const Workplace place, other;
  std::filesystem::remove(other.dir.file("train-labels-idx1-ubyte"));
  std::vector<plan::ExecutionPlan> plans{make_linear_plan(place.options(2)), make_linear_plan(other.options(2))};
  REQUIRE(plans[0].hash == plans[1].hash);
  const auto runs = run_ranks(plans, {}, 2);
  require_all_fail(runs, ErrorCode::not_found, "train-labels-idx1-ubyte");
  CHECK_THAT(runs[0].error->to_string(), contains("rank 1"));
}

TEST_CASE("train: outputs that cannot be written fail before the first step", "[unit][run]") {
  const Workplace place;
  place.dir.write("file", "x");
  require_all_fail(run_ranks(place.options(2, "file/out")), ErrorCode::unavailable, "file/out");
  RunOptions how;
  how.trainer.metrics_path = place.dir.file("file/metrics.jsonl");
  require_all_fail(run_ranks(place.options(2), how), ErrorCode::unavailable, "file/metrics.jsonl");
}

TEST_CASE("train: ranks with different plans, or too few of them, do not start", "[unit][run]") {
  const Workplace place;
  auto plan = make_linear_plan(place.options(2));
  auto other = plan;
  other.hash ^= 1;
  require_all_fail(run_ranks({plan, other}, {}, 2), ErrorCode::invalid_argument, "rank 1 has plan");
  require_all_fail(run_ranks({plan}, {}, 3), ErrorCode::invalid_argument,
                   "the plan is for 2 ranks, but 3 were started");
}

TEST_CASE("train: an error in the middle on one rank stops the others with its reason", "[unit][run]") {
  if (!std::filesystem::exists("/dev/full")) {
    WARN("no /dev/full: skipped");
    return;
  }
  const Workplace place;
  RunOptions how;
  how.trainer.metrics_path = "/dev/full";  // rank 0 fails at its first log line
  const auto start = Clock::now();
  const auto runs = run_ranks(place.options(2), how);
  REQUIRE((runs[0].error && runs[1].error));
  CHECK(runs[0].error->code == ErrorCode::out_of_memory);
  CHECK(runs[1].error->code == ErrorCode::aborted);
  CHECK_THAT(runs[1].error->to_string(), contains("/dev/full"));
  CHECK(Clock::now() - start < std::chrono::seconds(10));
}
