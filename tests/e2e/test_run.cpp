#include <cmath>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"

using namespace dtj::test;

TEST_CASE("run: a job trains to its goal on one and two ranks", "[e2e]") {
  for (const int ranks : {1, 2}) {
    MlpJob job;
    job.ranks = ranks;
    job.steps = 120;
    Workspace space(job);
    const ProcessResult result = space.run();
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.find("goal met") != std::string::npos);
    CHECK(read_losses(space.metrics).size() == 120);
    CHECK_FALSE(read_shards(space.out, 120).empty());
  }
}

namespace {

/// 50 steps with a global batch of 16: alone, in 4 micro batches, and on two ranks with half of it each.
void check_split(MlpJob alone) {
  alone.steps = 50;
  alone.checkpoint_every = 50;
  MlpJob accumulated = alone;
  accumulated.micro_batch = 4;
  MlpJob two_ranks = alone;
  two_ranks.ranks = 2;
  MlpJob both = two_ranks;
  both.micro_batch = 2;
  Workspace reference(alone);
  REQUIRE(reference.run().exit_code == 0);
  const auto expected = read_losses(reference.metrics);
  REQUIRE(expected.size() == 50);
  for (const MlpJob& job : {accumulated, two_ranks, both}) {
    Workspace space(job);
    const ProcessResult result = space.run();
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto losses = read_losses(space.metrics);
    REQUIRE(losses.size() == 50);
    for (const auto& [step, loss] : losses) {
      INFO("ranks " << job.ranks << " micro batch " << job.micro_batch << " step " << step);
      const double want = std::stod(expected.at(step));
      CHECK(std::abs(std::stod(loss) - want) <= 1e-5 * std::abs(want));
    }
  }
}

}  // namespace

TEST_CASE("run: ranks and accumulation split the same batch", "[e2e]") {
  MlpJob job;
  job.with_eval = false;
  check_split(job);
}

TEST_CASE("run: with a weight, targets that are left out do not make the split matter", "[e2e]") {
  MlpJob job;
  job.objective =
      "{loss = cross_entropy(logits, batch.label, ignore = 2), weight = num_targets(batch.label, ignore = 2), "
      "acc = accuracy(logits, batch.label, ignore = 2)}";
  check_split(job);
}

TEST_CASE("run: threads do not change a bit", "[e2e]") {
  MlpJob one;
  one.steps = 30;
  one.checkpoint_every = 30;
  MlpJob two = one;
  two.threads = 2;
  Workspace a(one);
  Workspace b(two);
  REQUIRE(a.run().exit_code == 0);
  REQUIRE(b.run().exit_code == 0);
  CHECK(read_losses(a.metrics) == read_losses(b.metrics));
  REQUIRE_FALSE(read_shards(a.out, 30).empty());
  CHECK(read_shards(a.out, 30) == read_shards(b.out, 30));
}

TEST_CASE("run: bf16 compute learns too", "[e2e]") {
  MlpJob job;
  job.compute = "bf16";
  job.steps = 120;
  Workspace space(job);
  const ProcessResult result = space.run();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("goal met") != std::string::npos);
}

TEST_CASE("run: what a killed launcher leaves among the temporary files goes with the next run", "[e2e][distributed]") {
  MlpJob job;
  job.ranks = 2;
  job.steps = 100'000'000;
  job.checkpoint_every = job.steps;
  job.with_eval = false;
  Workspace space(job);
  const std::string temporary = space.dir.file("tmp");
  std::filesystem::create_directories(temporary);
  const auto command = [&](std::vector<std::string> more) {
    std::vector<std::string> argv = {"env", "TMPDIR=" + temporary};
    const auto run = space.run_command(std::move(more));
    argv.insert(argv.end(), run.begin(), run.end());
    return argv;
  };
  const auto num_left = [&] {
    return std::distance(std::filesystem::directory_iterator(temporary), std::filesystem::directory_iterator());
  };
  Process process(command({}), space.dir.file("killed"));
  REQUIRE(process.wait_until([&] { return size_of(space.metrics) > 1000; }, std::chrono::seconds(60)));
  CHECK(num_left() == 1);
  process.kill(SIGKILL);
  process.finish(std::chrono::seconds(30));
  CHECK(num_left() == 1);
  space.out = space.dir.file("another");
  CHECK(Process(command({"--max-steps", "2"}), space.dir.file("next")).finish().exit_code == 0);
  CHECK(num_left() == 0);
}

TEST_CASE("run: a killed rank stops the others and is named", "[e2e][distributed]") {
  MlpJob job;
  job.ranks = 2;
  job.steps = 100'000'000;
  job.checkpoint_every = job.steps;
  job.with_eval = false;
  Workspace space(job);
  Process process(space.run_command(), space.dir.file("killed"));
  REQUIRE(process.wait_until([&] { return size_of(space.metrics) > 5000; }, std::chrono::seconds(60)));
  const auto ranks = children_of(process.pid());
  REQUIRE(ranks.size() == 2);
  kill(ranks[1], SIGKILL);
  const ProcessResult result = process.finish(std::chrono::seconds(30));
  INFO(result.err);
  CHECK_FALSE(result.timed_out);
  CHECK(result.exit_code == 6);
  CHECK(result.err.find("rank 1") != std::string::npos);
  CHECK(result.err.find("SIGKILL") != std::string::npos);
  CHECK(result.err.find("step ") != std::string::npos);
  for (const pid_t rank : ranks) CHECK(kill(rank, 0) != 0);
}
