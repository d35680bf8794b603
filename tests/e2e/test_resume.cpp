#include <random>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"

using namespace dtj::test;

namespace {

constexpr int num_mlp_steps = 4000;

MlpJob resumable_mlp(int ranks) {
  MlpJob job;
  job.ranks = ranks;
  job.steps = num_mlp_steps;
  job.global_batch = 128;
  job.checkpoint_every = 150;
  job.with_eval = false;
  return job;
}

/// Kills the run of a job several times, now the launcher, now a rank, and compares the end with an undisturbed run.
template <class Job>
void kill_and_compare(const Job& job, unsigned seed) {
  Workspace undisturbed(job);
  const ProcessResult whole = undisturbed.run();
  INFO(whole.err);
  REQUIRE(whole.exit_code == 0);
  const auto expected = read_losses(undisturbed.metrics);
  const std::string expected_shards = read_shards(undisturbed.out, job.steps);
  REQUIRE(expected.size() == std::size_t(job.steps));
  REQUIRE_FALSE(expected_shards.empty());

  std::mt19937 random(seed);
  Workspace space(job);
  for (int kills = 0; kills < 4; ++kills) {
    // Anywhere in the next fifth of the run.
    const std::uintmax_t target = size_of(space.metrics) + 1 + random() % (size_of(undisturbed.metrics) / 5);
    Process process(space.run_command(), space.dir.file("killed"));
    REQUIRE(process.wait_until([&] { return size_of(space.metrics) >= target; }, std::chrono::seconds(60)));
    // Both must leave nothing behind that hurts.
    const auto children = children_of(process.pid());
    REQUIRE((job.ranks == 1 || children.size() == std::size_t(job.ranks)));
    kill(children.empty() || kills % 2 == 0 ? process.pid() : children.back(), SIGKILL);
    process.finish(std::chrono::seconds(30));
  }
  const ProcessResult last = space.run();
  INFO(last.err);
  REQUIRE(last.exit_code == 0);
  CHECK(last.err.find("resumed at step") != std::string::npos);
  CHECK(read_losses(space.metrics) == expected);
  CHECK(read_shards(space.out, job.steps) == expected_shards);
}

}  // namespace

TEST_CASE("resume: an MLP killed anywhere ends with the bits of one that never stopped", "[e2e][resume]") {
  for (const int ranks : {1, 2}) {
    INFO(ranks << " ranks");
    kill_and_compare(resumable_mlp(ranks), 7 + unsigned(ranks));
  }
}

TEST_CASE("resume: a GPT killed anywhere ends with the bits of one that never stopped", "[e2e][resume]") {
  GptJob job;
  job.steps = 2500;
  job.checkpoint_every = 100;
  GptJob accumulating = job;
  accumulating.ranks = 2;
  accumulating.micro_batch = 2;
  GptJob half_precision = job;
  half_precision.compute = "bf16";
  unsigned seed = 20;
  for (const GptJob& variant : {job, accumulating, half_precision}) {
    INFO(variant.ranks << " ranks, compute " << variant.compute);
    kill_and_compare(variant, seed++);
  }
}

TEST_CASE("resume: a polite stop saves first and exits with 75", "[e2e][resume]") {
  for (const auto& [ranks, signal] : {std::pair(1, SIGTERM), {2, SIGTERM}, {2, SIGHUP}}) {
    Workspace undisturbed(resumable_mlp(ranks));
    REQUIRE(undisturbed.run().exit_code == 0);
    Workspace space(resumable_mlp(ranks));
    {
      Process process(space.run_command(), space.dir.file("stopped"));
      REQUIRE(process.wait_until([&] { return size_of(space.metrics) > 20'000; }, std::chrono::seconds(60)));
      process.kill(signal);
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
    CHECK(read_shards(space.out, num_mlp_steps) == read_shards(undisturbed.out, num_mlp_steps));
  }
}

TEST_CASE("resume: at the end of the walltime a run saves and stops with 75", "[e2e][resume]") {
  MlpJob job = resumable_mlp(2);
  job.steps = 10'000'000;
  Workspace space(job);
  std::ifstream in(space.job_path);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.replace(text.find("collective_timeout = 20s"), 0, "walltime = 1s; ");
  text.replace(text.find("save ="), 0, "on_signal = true; ");
  space.dir.write("job.dtj", text);
  const ProcessResult result = space.run();
  INFO(result.err.substr(0, 2000));
  CHECK(result.exit_code == 75);
  CHECK(result.err.find("the walltime is over; checkpoint of step") != std::string::npos);
}

TEST_CASE("resume: a second run in the same folder is refused and the first goes on", "[e2e][resume]") {
  MlpJob job = resumable_mlp(1);
  job.steps = 100'000;
  Workspace space(job);
  Process first(space.run_command(), space.dir.file("first"));
  REQUIRE(first.wait_until([&] { return size_of(space.metrics) > 1000; }, std::chrono::seconds(60)));
  const ProcessResult second = space.run({"--max-steps", "5"});
  INFO(second.err);
  CHECK(second.exit_code == 4);
  CHECK(second.err.find("another run writes checkpoints to `" + space.out) != std::string::npos);
  first.kill(SIGTERM);
  CHECK(first.finish(std::chrono::seconds(30)).exit_code == 75);
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
