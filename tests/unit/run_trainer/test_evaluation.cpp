#include "tests/unit/run_trainer/linear_plan.hpp"

using namespace dtj;
using namespace dtj::test;

TEST_CASE("evaluation: every sample counts once, whatever the number of ranks", "[unit][run]") {
  const Workplace place;
  std::vector<double> losses;
  for (const std::int64_t world_size : {1, 2, 4}) {
    PlanOptions options = place.options(world_size);
    options.eval_every = Progress{1, ProgressUnit::epoch};
    const auto runs = run_ranks(options);
    REQUIRE(runs[0].summary);
    REQUIRE(runs[0].evals.size() == 4);  // three epochs of 12 steps, and step 40
    for (const RankRun& run : runs) {
      CHECK(run.evals[3].num_samples == 53);
      CHECK(run.evals[3].metrics == runs[0].evals[3].metrics);
    }
    losses.push_back(runs[0].evals[3].metrics.at("loss"));
    CHECK(runs[0].summary->last_eval->step == 40);
  }
  CHECK(losses[1] == Approx(losses[0]).epsilon(1e-5));
  CHECK(losses[2] == Approx(losses[0]).epsilon(1e-5));
  CHECK(losses[0] > 0);
}

TEST_CASE("evaluation: takes the same samples every time", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options();
  options.eval_every = Progress{1, ProgressUnit::step};
  options.stop = {3, ProgressUnit::step};
  auto plan = make_linear_plan(options);
  plan.job.eval->batches = 2;
  plan.job.eval_data->sampler = {SamplerKind::shuffle, 3, LastBatch::drop};
  // A frozen model scores the same each time only on the same samples.
  for (auto& kernel : plan.kernels) {
    if (kernel.symbol == "sgd") kernel.symbol = "no_accuracy";
  }
  for (auto& step : plan.update.steps) std::get<plan::KernelStep>(step.what).args = {*plan.ports.learning_rate};
  const auto run = run_ranks({plan}, {}, 1)[0];
  REQUIRE(run.summary);
  REQUIRE(run.evals.size() == 3);
  CHECK(run.evals[0].num_samples == 16);
  CHECK(run.evals[1].metrics == run.evals[0].metrics);
  CHECK(run.evals[2].metrics == run.evals[0].metrics);
}

TEST_CASE("evaluation: the goal is checked and named", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options();
  options.eval_every = Progress{1000, ProgressUnit::step};
  auto plan = make_linear_plan(options);
  for (const double value : {0.0, 1.5}) {
    plan.job.eval->goal = GoalSpec{"acc", Comparison::greater_equal, value};
    const auto run = run_ranks({plan}, {}, 1)[0];
    REQUIRE(run.summary);
    REQUIRE(run.summary->last_eval);
    CHECK(run.summary->last_eval->goal_met == (value == 0.0));
    CHECK(run.summary->last_eval->metrics.count("acc") == 1);
    CHECK_THAT(run.summary->message, contains(value == 0.0 ? "goal acc >= 0 met" : "goal acc >= 1.5 not met"));
  }
}
