#include <algorithm>
#include <filesystem>
#include <functional>

#include "engine/plan/print.hpp"
#include "engine/plan/serialize.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/plan/sample_plan.hpp"

using namespace dtj;
using plan::ExecutionPlan;

TEST_CASE("save: load gives the same plan", "[unit][plan]") {
  const ExecutionPlan original = test::sample_plan();
  const std::string bytes = plan::save(original);
  const auto loaded = plan::load(bytes);
  INFO((loaded ? "" : loaded.error().to_string()));
  REQUIRE(loaded);
  CHECK(plan::save(*loaded) == bytes);
  CHECK(loaded->hash == plan::compute_hash(original));
  CHECK(loaded->buffers.size() == original.buffers.size());
  CHECK(loaded->micro_only.steps[4].label == "fused(sum)");
  CHECK(loaded->micro_only.steps[4].source.line == 12);
  CHECK(loaded->job.checkpoint->dir == "ckpt");
  CHECK(plan::listing(*loaded) == plan::listing(original));
}

TEST_CASE("load: every truncation is data loss", "[unit][plan]") {
  const std::string bytes = plan::save(test::sample_plan());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto loaded = plan::load(std::string_view(bytes).substr(0, size));
    REQUIRE_FALSE(loaded);
    REQUIRE(loaded.error().code == ErrorCode::data_loss);
  }
}

TEST_CASE("load: every flipped byte is an error", "[unit][plan]") {
  const std::string bytes = plan::save(test::sample_plan());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    REQUIRE_FALSE(plan::load(damaged));
  }
}

TEST_CASE("load: damage behind a right checksum does not crash", "[unit][plan]") {
  const std::string content = plan::save(test::sample_plan()).substr(32);
  for (std::size_t i = 0; i < content.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = content;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      // A harmless change of a label or path may load; anything else is an error.
      const auto loaded = plan::load(plan::seal(damaged));
      if (loaded) continue;
      const ErrorCode code = loaded.error().code;
      REQUIRE((code == ErrorCode::data_loss || code == ErrorCode::invalid_argument));
    }
    REQUIRE_FALSE(plan::load(plan::seal(content.substr(0, i))));
  }
  CHECK_FALSE(plan::load(plan::seal(content + "x")));
}

TEST_CASE("load: another format version says so", "[unit][plan]") {
  std::string bytes = plan::save(test::sample_plan());
  bytes[8] = 9;
  const auto loaded = plan::load(bytes);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == ErrorCode::unimplemented);
  CHECK(loaded.error().message.find("version 9") != std::string::npos);
}

TEST_CASE("load_file: errors name the file", "[unit][plan]") {
  const test::TempDir dir;
  const auto missing = plan::load_file(dir.file("none.plan"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().to_string().find("none.plan") != std::string::npos);
  CHECK(plan::load_file(dir.write("bad.plan", "hello")).error().to_string().find("bad.plan") != std::string::npos);

  REQUIRE(plan::save_file(test::sample_plan(), dir.file("good.plan")));
  CHECK(plan::load_file(dir.file("good.plan")));
  const auto unwritable = plan::save_file(test::sample_plan(), dir.file("no/folder/x.plan"));
  REQUIRE_FALSE(unwritable);
  CHECK(unwritable.error().code == ErrorCode::unavailable);
  CHECK_FALSE(plan::save_file(test::sample_plan(), dir.path().string()));
  std::filesystem::create_symlink("good.plan", dir.file("link.plan"));
  REQUIRE(plan::save_file(test::sample_plan(), dir.file("link.plan")));
  CHECK(std::filesystem::is_symlink(dir.file("link.plan")));
}

TEST_CASE("compute_hash: what decides no number does not enter", "[unit][plan]") {
  const std::uint64_t hash = plan::compute_hash(test::sample_plan());
  const std::vector<std::function<void(ExecutionPlan&)>> harmless = {
      [](auto& p) { p.job.train_data.source.path = "/elsewhere"; },
      [](auto& p) { p.job.train.log_every.amount = 99; },
      [](auto& p) { p.job.checkpoint.reset(); },
      [](auto& p) { p.objects[0] = "other bytes"; },
      [](auto& p) { p.micro_only.steps[0].source.file = "moved.dtj"; },
      [](auto& p) { p.micro_only.steps[0].label = "renamed"; },
      [](auto& p) { p.job.launch.collective_timeout_seconds = 5; },
      [](auto& p) { p.hash = 5; },
  };
  for (const auto& change : harmless) {
    ExecutionPlan changed = test::sample_plan();
    change(changed);
    CHECK(plan::compute_hash(changed) == hash);
  }
}

TEST_CASE("compute_hash: what decides the numbers enters", "[unit][plan]") {
  const std::uint64_t hash = plan::compute_hash(test::sample_plan());
  const std::vector<std::function<void(ExecutionPlan&)>> changes = {
      [](auto& p) { p.job.seed = 8; },
      [](auto& p) { p.job.train_data.sampler.seed = 8; },
      [](auto& p) { p.tensors[0].init.b = 0.03; },
      [](auto& p) { p.buffers[0].name = "other"; },
      [](auto& p) { p.collectives[0].count = 18; },
      [](auto& p) { p.constants[0][0] = 'x'; },
      [](auto& p) { std::swap(p.micro_only.steps[0], p.micro_only.steps[1]); },
      [](auto& p) { std::get<plan::GemmStep>(p.micro_only.steps[1].what).accumulate = true; },
      [](auto& p) { p.job.train.grad_clip_norm.reset(); },
      [](auto& p) { p.job.train.grad_clip_value = 0.5; },
      [](auto& p) { p.job.precision.compute = DType::bf16; },
  };
  std::vector<std::uint64_t> seen{hash};
  for (const auto& change : changes) {
    ExecutionPlan changed = test::sample_plan();
    change(changed);
    seen.push_back(plan::compute_hash(changed));
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}
