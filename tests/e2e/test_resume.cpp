#include <random>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"

using namespace dtj::test;

namespace {

MlpJob resumable(int ranks) {
  MlpJob job;
  job.ranks = ranks;
  job.steps = 2000;
  job.checkpoint_every = 100;
  job.with_eval = false;
  return job;
}

}  // namespace

TEST_CASE("resume: a run killed anywhere ends with the bits of one that never stopped", "[e2e][resume]") {
  for (const int ranks : {1, 2}) {
    Workspace undisturbed(resumable(ranks));
    REQUIRE(undisturbed.run().exit_code == 0);
    const auto expected = read_losses(undisturbed.metrics);
    const std::string expected_shards = read_shards(undisturbed.out, 2000);
    REQUIRE(expected.size() == 2000);
    REQUIRE_FALSE(expected_shards.empty());

    std::mt19937 random(7 + unsigned(ranks));
    Workspace space(resumable(ranks));
    for (int kills = 0; kills < 4; ++kills) {
      const std::size_t target = 1 + random() % 400;
      const std::size_t before = read_losses(space.metrics).size();
      Process process(space.run_command(), space.dir.file("killed"));
      REQUIRE(process.wait_until([&] { return read_losses(space.metrics).size() >= before + target; }, std::chrono::seconds(60)));
      // The launcher for some, a rank for the others: both must leave nothing behind that hurts.
      const auto children = children_of(process.pid());
      kill(children.empty() || kills % 2 == 0 ? process.pid() : children.back(), SIGKILL);
      process.finish(std::chrono::seconds(30));
    }
    const ProcessResult last = space.run();
    INFO(last.err);
    REQUIRE(last.exit_code == 0);
    CHECK(read_losses(space.metrics) == expected);
    CHECK(read_shards(space.out, 2000) == expected_shards);
  }
}

TEST_CASE("resume: a polite stop saves first and exits with 75", "[e2e][resume]") {
  for (const int ranks : {1, 2}) {
    Workspace undisturbed(resumable(ranks));
    REQUIRE(undisturbed.run().exit_code == 0);
    Workspace space(resumable(ranks));
    {
      Process process(space.run_command(), space.dir.file("stopped"));
      REQUIRE(process.wait_until([&] { return read_losses(space.metrics).size() > 130; }, std::chrono::seconds(60)));
      process.kill(SIGTERM);
      const ProcessResult result = process.finish(std::chrono::seconds(30));
      INFO(result.err);
      CHECK(result.exit_code == 75);
    }
    const auto done = read_losses(space.metrics).rbegin()->first;
    CHECK_FALSE(read_shards(space.out, done).empty());
    const ProcessResult rest = space.run();
    INFO(rest.err);
    REQUIRE(rest.exit_code == 0);
    CHECK(read_losses(space.metrics) == read_losses(undisturbed.metrics));
    CHECK(read_shards(space.out, 2000) == read_shards(undisturbed.out, 2000));
  }
}

TEST_CASE("resume: a damaged checkpoint is named and the one before it is used", "[e2e][resume]") {
  MlpJob job;
  job.steps = 40;
  Workspace space(job);
  REQUIRE(space.run().exit_code == 0);
  const auto expected = read_shards(space.out, 40);
  const std::string shard = space.out + "/step-00000040/shard-00000-of-00001.safetensors";
  REQUIRE(std::filesystem::exists(shard));
  {
    std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5, std::ios::end);
    file.put('\x7f');
  }
  const ProcessResult result = space.run();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("step-00000040") != std::string::npos);
  CHECK(result.err.find("resumed at step 30") != std::string::npos);
  CHECK(read_shards(space.out, 40) == expected);
}
