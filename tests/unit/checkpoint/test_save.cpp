#include <unistd.h>

#include "tests/unit/checkpoint/checkpoint_fixture.hpp"

using namespace dtj;
using namespace dtj::test;

TEST_CASE("save: a checkpoint comes back bit for bit", "[unit][checkpoint]") {
  Folder folder;
  const auto saved = folder.save(5);
  REQUIRE(saved);
  CHECK(saved->path == folder.step(5));
  CHECK(saved->size.count ==
        std::int64_t(std::filesystem::file_size(folder.shard(5)) + std::filesystem::file_size(folder.manifest(5))));
  CHECK(folder.names() == Names{"latest", "step-00000005"});
  CHECK(read_file(folder.dir.file("latest")) == "step-00000005\n");
  CHECK(folder.newest() == 5);
  CHECK(folder.warnings.empty());
}

TEST_CASE("save: the manifest keeps every number", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(5));
  const auto found = checkpoint::find_newest(folder.path(), folder.log);
  REQUIRE((found && *found));
  const checkpoint::Manifest& manifest = (*found)->manifest;
  CHECK(manifest.plan_hash == 0xFEDCBA9876543210u);
  CHECK(manifest.state.step == 5);
  CHECK(manifest.state.epoch == 3);
  CHECK(manifest.state.position_in_epoch == 256);
  CHECK(manifest.state.next_sample_hash == 0x8000000000000001u);
  CHECK(manifest.state.sampler_seed == 77);
  CHECK(manifest.state.learning_rate == 0.1);
  CHECK(manifest.state.train_seconds == 12.5);
  CHECK(manifest.state.metrics == std::map<std::string, double>{{"loss", 1.0 / 3}});
  CHECK(manifest.contract.seed == 1234);
  CHECK(manifest.tensors.size() == 4);
}

TEST_CASE("save: keeps the newest checkpoints", "[unit][checkpoint]") {
  Folder folder;
  for (const std::int64_t step : {1, 2, 3, 4}) REQUIRE(folder.save(step, 2));
  CHECK(folder.names() == Names{"latest", "step-00000003", "step-00000004"});
  REQUIRE(folder.save(5, 1));
  CHECK(folder.names() == Names{"latest", "step-00000005"});
}

TEST_CASE("save: does not replace a valid checkpoint", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(5));
  const std::string before = read_file(folder.manifest(5));
  const auto again = folder.save(5);
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(again.error().message, contains(folder.step(5)));
  CHECK(read_file(folder.manifest(5)) == before);
  CHECK(folder.names() == Names{"latest", "step-00000005"});
}

TEST_CASE("save: replaces a damaged checkpoint of the same step", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(5));
  write_file(folder.shard(5), "short");
  REQUIRE(folder.save(5));
  CHECK(folder.newest() == 5);
  CHECK(folder.names() == Names{"latest", "step-00000005"});
}

TEST_CASE("save: a damaged newer checkpoint does not push the new one out", "[unit][checkpoint]") {
  Folder folder;
  for (const std::int64_t step : {1, 5}) REQUIRE(folder.save(step));
  write_file(folder.shard(5), "short");
  REQUIRE(folder.save(3, 1));
  CHECK(folder.newest() == 3);
}

TEST_CASE("prepare_folder: removes what dead writers left and nothing else", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(5));
  folder.dir.write(".tmp-step-00000009-999999999/shard", "x");  // no process has this number
  folder.dir.write(".tmp-step-00000008-" + std::to_string(getpid()) + "/shard", "x");
  folder.dir.write(".tmp-step-00000007-1/shard", "x");  // process 1 always lives
  folder.dir.write("notes.txt", "mine");
  REQUIRE(checkpoint::prepare_folder(folder.path()));
  CHECK(folder.names() == Names{".lock", ".tmp-step-00000007-1", "latest", "notes.txt", "step-00000005"});
  CHECK(folder.newest() == 5);
}

TEST_CASE("find_newest: no folder and an empty folder hold no checkpoint", "[unit][checkpoint]") {
  const TempDir dir;
  for (const std::string& path : {dir.file("none"), dir.path().string()}) {
    const auto found = checkpoint::find_newest(path, {});
    REQUIRE(found);
    CHECK_FALSE(found->has_value());
  }
}
