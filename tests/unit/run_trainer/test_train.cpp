#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/unit/run_trainer/linear_plan.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

void require_close(const std::vector<double>& a, const std::vector<double>& b, double relative) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= relative * std::abs(b[i]));
}

}  // namespace

TEST_CASE("train: the loss falls and every step is reported", "[unit][run]") {
  const Workplace place;
  const auto run = run_ranks(place.options())[0];
  REQUIRE(run.summary);
  CHECK(run.summary->status == run::RunStatus::finished);
  CHECK(run.summary->steps == 40);
  CHECK(run.summary->resumed_from == 0);
  REQUIRE(run.losses.size() == 40);
  CHECK(run.losses[39] < 0.5 * run.losses[0]);
  CHECK(run.summary->last_metrics.at("loss") == run.losses[39]);
  REQUIRE(run.logs.size() == 8);
  const run::StepReport& last = run.logs.back();
  CHECK(last.step == 40);
  CHECK(last.total_steps == 40);
  CHECK(last.epoch == Approx(40.0 / 12));
  CHECK(last.learning_rate == Approx(0.02 / 1.39));
  CHECK(last.gradient_norm > 0);
  CHECK(last.samples_per_second > 0);
  CHECK(last.tokens_per_second == 0);
  CHECK(last.seconds_compute > 0);
  CHECK(last.seconds_other >= 0);
}

TEST_CASE("train: two ranks give the same bits to each other and one rank's losses", "[unit][run]") {
  const Workplace place;
  const auto one = run_ranks(place.options(1))[0];
  const auto two = run_ranks(place.options(2));
  REQUIRE((two[0].summary && two[1].summary));
  CHECK(two[0].losses == two[1].losses);
  require_close(two[0].losses, one.losses, 1e-5);
}

TEST_CASE("train: gradient accumulation gives the losses of one large micro batch", "[unit][run]") {
  const Workplace place;
  const auto whole = run_ranks(place.options(1))[0];
  for (const std::int64_t accumulation : {2, 4}) {
    PlanOptions options = place.options(2);
    options.accumulation = accumulation;
    const auto parts = run_ranks(options)[0];
    REQUIRE(parts.summary);
    require_close(parts.losses, whole.losses, 1e-5);
  }
}

TEST_CASE("train: stops after epochs", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options();
  options.stop = {2, ProgressUnit::epoch};
  CHECK(run_ranks(options)[0].summary->steps == 24);
}

TEST_CASE("train: stops when its time is over, on all ranks at one step", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(2);
  options.stop = {0.2, ProgressUnit::time};
  const auto runs = run_ranks(options);
  REQUIRE((runs[0].summary && runs[1].summary));
  CHECK(runs[0].summary->steps > 0);
  CHECK(runs[0].summary->steps == runs[1].summary->steps);
}

TEST_CASE("train: metrics are JSON lines by rank 0", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(2);
  options.eval_every = Progress{20, ProgressUnit::step};
  RunOptions how;
  how.trainer.metrics_path = place.dir.file("logs/metrics.jsonl");
  const auto run = run_ranks(options, how)[0];
  REQUIRE(run.summary);
  std::ifstream lines(how.trainer.metrics_path);
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(nlohmann::json::parse(line));
  REQUIRE(records.size() == 8 + 2);
  CHECK(records[0].at("event") == "step");
  CHECK(records[0].at("step") == 5);
  CHECK(records[0].at("loss") == run.losses[4]);
  CHECK(records[4].at("event") == "eval");
  CHECK(records[4].at("step") == 20);
  CHECK(records[4].at("num_samples") == 53);
  CHECK(records[4].at("loss") == run.evals[0].metrics.at("loss"));
}

TEST_CASE("train: a probe stops early, saves, and leaves the evaluation out", "[unit][run]") {
  const Workplace place;
  PlanOptions options = place.options(1, "out");
  options.eval_every = Progress{30, ProgressUnit::step};
  RunOptions how;
  how.trainer.max_steps = 7;
  const auto run = run_ranks(options, how)[0];
  REQUIRE(run.summary);
  CHECK(run.summary->steps == 7);
  CHECK(run.evals.empty());
  CHECK(place.checkpoints("out") == std::vector<std::string>{"step-00000007"});
}
