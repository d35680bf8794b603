#include <filesystem>
#include <fstream>

#include "tests/unit/run_trainer/linear_plan.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

std::vector<double> tail(const std::vector<double>& values, std::size_t first) {
  return {values.begin() + std::ptrdiff_t(first), values.end()};
}

RunOptions until(std::int64_t step) {
  RunOptions how;
  how.trainer.max_steps = step;
  return how;
}

std::string shard(const Workplace& place, const std::string& step) {
  return place.dir.file("out/step-" + step + "/shard-00000-of-00001.safetensors");
}

}  // namespace

TEST_CASE("resume: a run that stopped anywhere gives the same bits as one that did not", "[unit][run]") {
  for (const std::int64_t world_size : {1, 2}) {
    const Workplace place;
    PlanOptions options = place.options(world_size, "straight");
    options.accumulation = 2;
    const auto straight = run_ranks(options);
    REQUIRE(straight[0].summary);
    for (const std::int64_t stop : {1, 12, 17, 39}) {
      const std::string out = "stopped-" + std::to_string(stop);
      options.checkpoint_dir = place.dir.file(out);
      REQUIRE(run_ranks(options, until(stop))[0].summary);
      const auto resumed = run_ranks(options);
      REQUIRE(resumed[0].summary);
      CHECK(resumed[0].summary->resumed_from == stop);
      CHECK(resumed[0].summary->steps == 40);
      CHECK(resumed[0].losses == tail(straight[0].losses, std::size_t(stop)));
      CHECK(place.tensors(out, 40) == place.tensors("straight", 40));
    }
  }
}

TEST_CASE("resume: checkpoints come at their interval and the newest are kept", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(2, "out");
  options.checkpoint_every = {{15, ProgressUnit::step}, {1, ProgressUnit::epoch}};
  const auto runs = run_ranks(options);
  REQUIRE(runs[0].summary);
  std::vector<std::int64_t> steps;
  for (const auto& report : runs[0].checkpoints) steps.push_back(report.step);
  CHECK(steps == std::vector<std::int64_t>{12, 15, 24, 30, 36, 40});
  CHECK(runs[1].checkpoints.empty());
  CHECK(place.checkpoints("out") == std::vector<std::string>{"step-00000036", "step-00000040"});
}

TEST_CASE("resume: a time interval saves at the same steps on all ranks", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(2, "out");
  options.checkpoint_every = {{1e-6, ProgressUnit::time}};
  const auto runs = run_ranks(options, until(4));
  REQUIRE((runs[0].summary && runs[1].summary));
  std::vector<std::int64_t> steps;
  for (const auto& report : runs[0].checkpoints) {
    if (report.step > 0) steps.push_back(report.step);  // the first boundary may come before the interval is over
  }
  CHECK(steps == std::vector<std::int64_t>{1, 2, 3, 4});
}

TEST_CASE("resume: a request on one rank preempts all at one step, with a checkpoint", "[unit][run]") {
  const Workplace place;
  const auto straight = run_ranks(place.options(2, "straight"));
  std::atomic<int> stop{0};
  RunOptions how;
  how.trainer.stop_request = &stop;
  how.on_step = [&](std::int64_t rank, std::int64_t step) {
    if (rank == 1 && step == 9) stop = static_cast<int>(run::StopRequest::preempt);
  };
  const auto runs = run_ranks(place.options(2, "out"), how);
  REQUIRE((runs[0].summary && runs[1].summary));
  CHECK(runs[0].summary->status == run::RunStatus::preempted);
  CHECK(runs[1].summary->status == run::RunStatus::preempted);
  CHECK(runs[0].summary->steps == runs[1].summary->steps);
  CHECK(runs[0].summary->steps >= 9);
  CHECK_THAT(runs[0].summary->message, contains("checkpoint of step"));
  const auto resumed = run_ranks(place.options(2, "out"));
  REQUIRE(resumed[0].summary);
  CHECK(resumed[0].losses == tail(straight[0].losses, std::size_t(runs[0].summary->steps)));
  CHECK(place.tensors("out", 40) == place.tensors("straight", 40));
}

TEST_CASE("resume: a cancelled run, and one without checkpoints, saves nothing", "[unit][run]") {
  const Workplace place;
  for (const auto request : {run::StopRequest::cancel, run::StopRequest::preempt}) {
    const bool saves = request == run::StopRequest::cancel;
    std::atomic<int> stop{static_cast<int>(request)};
    RunOptions how;
    how.trainer.stop_request = &stop;
    const auto run = run_ranks(place.options(1, saves ? "out" : ""), how)[0];
    REQUIRE(run.summary);
    CHECK(run.summary->status == run::RunStatus::cancelled);
    CHECK(run.summary->steps == 0);
  }
  CHECK(place.checkpoints("out").empty());
}

TEST_CASE("resume: a finished run has nothing to do but its last evaluation", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(1, "out");
  options.eval_every = Progress{1, ProgressUnit::epoch};
  const auto first = run_ranks(options)[0];
  const auto again = run_ranks(options)[0];
  REQUIRE((first.summary && again.summary));
  CHECK(again.losses.empty());
  CHECK(again.summary->status == run::RunStatus::finished);
  CHECK(again.summary->resumed_from == 40);
  REQUIRE((first.summary->last_eval && again.summary->last_eval));
  CHECK(again.summary->last_eval->metrics == first.summary->last_eval->metrics);
  CHECK(again.summary->last_metrics == first.summary->last_metrics);
}

TEST_CASE("resume: a damaged checkpoint is passed over and the result is the same", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(2, "out");
  options.checkpoint_every = {{10, ProgressUnit::step}};
  REQUIRE(run_ranks(options)[0].summary);
  const auto expected = place.tensors("out", 40);
  std::filesystem::resize_file(shard(place, "00000040"), 100);
  const auto resumed = run_ranks(options);
  REQUIRE((resumed[0].summary && resumed[1].summary));
  CHECK(resumed[1].summary->resumed_from == 30);
  CHECK_THAT(resumed[0].messages.at(0),
             contains("checkpoint of step 40 is not used") && contains(shard(place, "00000040")));
  CHECK(place.tensors("out", 40) == expected);
}

TEST_CASE("resume: refuses another job, other data, and a run that must not resume", "[unit][run]") {
  const Workplace place;
  REQUIRE(run_ranks(place.options(2, "out"), until(20))[0].summary);
  const auto before = place.tensors("out", 20);

  PlanOptions other = place.options(2, "out");
  other.accumulation = 2;
  const auto refused = run_ranks(other);
  for (const RankRun& run : refused) {
    REQUIRE(run.error);
    CHECK(run.error->code == ErrorCode::invalid_argument);
    CHECK_THAT(run.error->to_string(), contains("micro batch is 8 in the checkpoint and 4 in the job"));
  }

  RunOptions anew;
  anew.trainer.resume = false;
  for (const RankRun& run : run_ranks(place.options(2, "out"), anew)) {
    REQUIRE(run.error);
    CHECK_THAT(run.error->to_string(), contains("holds a checkpoint of step 20"));
  }

  Workplace::write(place.dir, 190);
  const auto changed = run_ranks(place.options(2, "out"));
  REQUIRE(changed[1].error);
  CHECK_THAT(changed[1].error->to_string(), contains("is not the data that the checkpoint was made with"));
  CHECK(place.checkpoints("out") == std::vector<std::string>{"step-00000020"});
  CHECK(place.tensors("out", 20) == before);
}
