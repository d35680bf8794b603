#include "compiler/check/contract.hpp"
#include "contract_support.hpp"
#include "tests/support/catch.hpp"

namespace dtj::check {
namespace {

using testing::stated;

/// Trains 100 steps of 32 samples of 4 tokens.
struct Run {
  JobDraft job;
  DataDraft train;

  Run() {
    job.train.stop = stated(Progress{100, ProgressUnit::step}, 10);
    job.checkpoint = CheckpointDraft{};
    job.checkpoint->every.range = testing::somewhere(20);
    job.checkpoint->every.presence = Presence::known;
    train.spec.global_batch = 32;
    train.spec.seq = 4;
  }

  std::vector<diag::Kind> check(std::vector<Progress> every) {
    diag::Sink sink;
    job.checkpoint->every.value = std::move(every);
    check_intervals(job, &train, sink);
    return testing::kinds(sink);
  }
};

const std::vector<diag::Kind> none;
const std::vector<diag::Kind> no_checkpoint = {diag::Kind::no_checkpoint_before_end};

CheckpointDraft saving(std::vector<std::string> names) {
  CheckpointDraft checkpoint;
  checkpoint.save = stated(std::move(names), 30);
  checkpoint.resume.value = "exact";
  return checkpoint;
}

}  // namespace

TEST_CASE("contract: a checkpoint interval is compared with the end in one unit", "[unit][check]") {
  Run run;
  CHECK(run.check({{100, ProgressUnit::step}}) == none);
  CHECK(run.check({{101, ProgressUnit::step}}) == no_checkpoint);
  CHECK(run.check({{3200, ProgressUnit::sample}}) == none);
  CHECK(run.check({{3201, ProgressUnit::sample}}) == no_checkpoint);
  CHECK(run.check({{12800, ProgressUnit::tok}}) == none);
  CHECK(run.check({{12801, ProgressUnit::tok}}) == no_checkpoint);
}

TEST_CASE("contract: epochs against steps depend on the data and are not judged", "[unit][check]") {
  Run run;
  CHECK(run.check({{1000, ProgressUnit::epoch}}) == none);
  run.job.train.stop = stated(Progress{10, ProgressUnit::epoch}, 10);
  CHECK(run.check({{11, ProgressUnit::epoch}}) == no_checkpoint);
  CHECK(run.check({{10, ProgressUnit::epoch}}) == none);
}

TEST_CASE("contract: one interval of several that comes in time is enough", "[unit][check]") {
  Run run;
  CHECK(run.check({{500, ProgressUnit::step}, {50, ProgressUnit::step}}) == none);
  CHECK(run.check({{500, ProgressUnit::step}, {600, ProgressUnit::step}}) == no_checkpoint);
}

TEST_CASE("contract: a checkpoint interval ends before the walltime or saves on the signal", "[unit][check]") {
  Run run;
  run.job.launch.walltime = stated(Quantity{4 * 3600, UnitKind::time}, 40);
  run.job.checkpoint->on_signal.value = true;  // the default, which nobody wrote
  CHECK(run.check({{6 * 3600, ProgressUnit::time}}) == no_checkpoint);
  CHECK(run.check({{3600, ProgressUnit::time}}) == none);
  CHECK(run.check({{6 * 3600, ProgressUnit::time}, {50, ProgressUnit::step}}) == none);
  run.job.checkpoint->on_signal = stated(true, 50);
  CHECK(run.check({{6 * 3600, ProgressUnit::time}}) == none);
}

TEST_CASE("contract: an evaluation happens before the end", "[unit][check]") {
  Run run;
  EvalDraft eval;
  eval.every = stated(Progress{200, ProgressUnit::step}, 60);
  run.job.eval = eval;
  CHECK(run.check({{50, ProgressUnit::step}}) == std::vector{diag::Kind::no_evaluation_before_end});
  eval.every = stated(Progress{100, ProgressUnit::step}, 60);
  run.job.eval = eval;
  CHECK(run.check({{50, ProgressUnit::step}}) == none);
}

TEST_CASE("contract: an exact resume needs all state, an approximate one does not", "[unit][check]") {
  diag::Sink sink;
  check_save(saving({"sampler", "rng", "schedule", "optimizer", "params"}), {}, sink);
  CHECK(sink.sorted().empty());
  CheckpointDraft partial = saving({"params", "optimizer", "schedule"});
  check_save(partial, {}, sink);
  REQUIRE(testing::kinds(sink) == std::vector{diag::Kind::cannot_resume_exactly});
  CHECK(sink.sorted()[0].message == "this checkpoint cannot resume exactly: `save` omits `rng`, `sampler`");
  diag::Sink silent;
  partial.resume = stated(std::string("approximate"), 70);
  check_save(partial, {}, silent);
  CHECK(silent.sorted().empty());
}

TEST_CASE("contract: buffers and a loss scaler are state where there are some", "[unit][check]") {
  diag::Sink sink;
  check_save(saving({"params", "optimizer", "schedule", "rng", "sampler"}), {true, true}, sink);
  REQUIRE(testing::kinds(sink) == std::vector{diag::Kind::cannot_resume_exactly});
  CHECK(sink.sorted()[0].fixes[0].text == "save = [params, buffers, optimizer, schedule, rng, sampler, scaler]");
}

TEST_CASE("contract: metrics and goal are among those of the objective", "[unit][check]") {
  EvalDraft eval;
  eval.metrics = stated(std::vector<std::string>{"loss"}, 80);
  eval.goal = GoalDraft{{"acc", Comparison::greater_equal, 0.9}, testing::somewhere(90)};
  diag::Sink sink;
  check_metrics(eval, {"loss", "acc"}, sink);
  REQUIRE(testing::kinds(sink) == std::vector{diag::Kind::unknown_metric});
  CHECK(sink.sorted()[0].message == "the list `metrics` has no metric `acc`");
  diag::Sink silent;
  eval.metrics.value.push_back("acc");
  check_metrics(eval, {"loss", "acc"}, silent);
  CHECK(silent.sorted().empty());
}

}  // namespace dtj::check
