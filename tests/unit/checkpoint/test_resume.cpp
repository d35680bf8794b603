#include <functional>

#include "tests/unit/checkpoint/checkpoint_fixture.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

void replace_in(const std::string& path, const std::string& from, const std::string& to) {
  std::string text = read_file(path);
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  write_file(path, text.replace(at, from.size(), to));
}

void flip_bit(const std::string& path, std::size_t at) {
  std::string text = read_file(path);
  text[at] = char(text[at] ^ 4);
  write_file(path, text);
}

}  // namespace

TEST_CASE("find_newest: any damage is found and the checkpoint before is used", "[unit][checkpoint]") {
  struct Damage {
    const char* what;
    std::function<void(const Folder&)> act;
    const char* message;
  };
  const std::vector<Damage> damages = {
      {"truncated shard",
       [](const Folder& f) { std::filesystem::resize_file(f.shard(8), std::filesystem::file_size(f.shard(8)) - 1); },
       "truncated"},
      {"empty shard", [](const Folder& f) { write_file(f.shard(8), ""); }, "safetensors"},
      {"longer shard", [](const Folder& f) { write_file(f.shard(8), read_file(f.shard(8)) + "x"); },
       "truncated or damaged"},
      {"missing shard", [](const Folder& f) { std::filesystem::remove(f.shard(8)); },
       "shard-00000-of-00001.safetensors"},
      {"flipped bit in the data", [](const Folder& f) { flip_bit(f.shard(8), read_file(f.shard(8)).size() - 1); },
       "checksum"},
      {"flipped bit in the first tensor",
       [](const Folder& f) { flip_bit(f.shard(8), read_file(f.shard(8)).size() - 38); },
       "checksum of tensor `fc.weight`"},
      {"huge header", [](const Folder& f) { flip_bit(f.shard(8), 6); }, "header"},
      {"header that is not JSON", [](const Folder& f) { replace_in(f.shard(8), "{", "?"); }, "header"},
      {"wrong shape in the shard", [](const Folder& f) { replace_in(f.shard(8), "[2,3]", "[3,2]"); },
       "tensor `fc.weight` is f32[3, 2]"},
      {"wrong dtype in the shard", [](const Folder& f) { replace_in(f.shard(8), "BF16", "F16\""); }, "header"},
      {"other dtype of the same size", [](const Folder& f) { replace_in(f.shard(8), "\"BF16\"", "\"F16\" "); },
       "tensor `fc.half` is f16"},
      {"renamed tensor", [](const Folder& f) { replace_in(f.shard(8), "fc.half", "fc.hall"); },
       "tensor `fc.half` is missing"},
      {"missing manifest", [](const Folder& f) { std::filesystem::remove(f.manifest(8)); }, "manifest.json"},
      {"empty manifest", [](const Folder& f) { write_file(f.manifest(8), ""); }, "manifest.json"},
      {"half a manifest", [](const Folder& f) { std::filesystem::resize_file(f.manifest(8), 200); }, "manifest.json"},
      {"manifest of another kind", [](const Folder& f) { write_file(f.manifest(8), "{\"format\": 3}"); },
       "manifest.json"},
      {"manifest of another step", [](const Folder& f) { write_file(f.manifest(8), read_file(f.manifest(4))); },
       "it is of step 4"},
      {"wrong type in the manifest",
       [](const Folder& f) { replace_in(f.manifest(8), "\"world_size\": 2", "\"world_size\": []"); }, "manifest.json"},
      {"wrong shape in the manifest", [](const Folder& f) { replace_in(f.manifest(8), "bf16", "f16"); },
       "in the manifest"},
      {"path in the manifest", [](const Folder& f) { replace_in(f.manifest(8), "shard-00000", "../shard-00000"); },
       "not a file name"},
  };
  for (const Damage& damage : damages) {
    INFO(damage.what);
    Folder folder;
    REQUIRE(folder.save(4));
    REQUIRE(folder.save(8));
    damage.act(folder);
    CHECK(folder.newest() == 4);
    REQUIRE(folder.warnings.size() == 1);
    CHECK_THAT(folder.warnings[0], contains("step 8") && contains(damage.message));
  }
}

TEST_CASE("find_newest: no flipped bit of a checkpoint goes unnoticed", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(8));
  const std::string whole = read_file(folder.shard(8));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    // The JSON header has a spelling of its own that a flip may leave equal in meaning; the data has not.
    flip_bit(folder.shard(8), i);
    const std::int64_t newest = folder.newest();
    if (i >= whole.size() - 38) CHECK(newest == -1);
    CHECK((newest == -1 || newest == 8));
    write_file(folder.shard(8), whole);
  }
  CHECK(folder.newest() == 8);
}

TEST_CASE("find_newest: only damaged checkpoints are an error, not a fresh start", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(4));
  std::filesystem::remove(folder.shard(4));
  const auto found = checkpoint::find_newest(folder.path(), folder.log);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::data_loss);
  CHECK_THAT(found.error().message, contains("all 1 checkpoints") && contains(folder.path()));
}

TEST_CASE("open_checkpoint: follows rank 0 by the hash of the manifest", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(4));
  REQUIRE(folder.save(8));
  const auto newest = checkpoint::find_newest(folder.path(), folder.log);
  REQUIRE((newest && *newest));
  const std::uint64_t hash = (*newest)->manifest_hash;
  CHECK(checkpoint::open_checkpoint(folder.path(), 8, hash));
  const auto other = checkpoint::open_checkpoint(folder.path(), 4, hash);
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().message, contains("not the one that rank 0 reads"));
  CHECK_FALSE(checkpoint::open_checkpoint(folder.path(), 5, hash));
}

TEST_CASE("check_resumable: names everything that differs", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(4));
  const auto found = checkpoint::find_newest(folder.path(), folder.log);
  REQUIRE((found && *found));
  const checkpoint::Checkpoint& saved = **found;
  Model model;
  const std::uint64_t plan = saved.manifest.plan_hash;
  CHECK(checkpoint::check_resumable(saved, plan, make_contract(), model.targets()));

  const auto refusal = [&](std::uint64_t hash, const checkpoint::Contract& contract, auto tensors) {
    const auto status = checkpoint::check_resumable(saved, hash, contract, tensors);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(status.error().message, contains(folder.step(4)));
    return status.error().message;
  };
  checkpoint::Contract contract = make_contract();
  contract.global_batch = 256;
  contract.job = "other";
  CHECK_THAT(refusal(plan, contract, model.targets()),
             contains("global batch is 128 in the checkpoint and 256 in the job") && contains("job is tiny"));
  auto tensors = model.targets();
  tensors[0].shape = {3, 2};
  tensors[1].name = "fc.third";
  CHECK_THAT(refusal(plan, make_contract(), tensors),
             contains("tensor `fc.weight` is f32[2, 3] in the checkpoint and f32[3, 2] in the job") &&
                 contains("tensor `fc.third` is missing in the checkpoint") &&
                 contains("the job has no tensor `fc.half`"));
  CHECK_THAT(refusal(plan + 1, make_contract(), model.targets()), contains("its plan is fedcba9876543210"));
}

TEST_CASE("load: refuses a missing, an unexpected and a mis-shaped tensor", "[unit][checkpoint]") {
  Folder folder;
  REQUIRE(folder.save(4));
  const auto found = checkpoint::find_newest(folder.path(), folder.log);
  REQUIRE((found && *found));
  Model model;
  auto fewer = model.targets();
  fewer.pop_back();
  CHECK_THAT(checkpoint::load(**found, fewer).error().message, contains("the job has no tensor `empty`"));
  auto more = model.targets();
  more.push_back({"extra", DType::f32, {0}, nullptr});
  CHECK_THAT(checkpoint::load(**found, more).error().message, contains("tensor `extra` is missing"));
  auto other = model.targets();
  other[0].shape = {6};
  CHECK_THAT(checkpoint::load(**found, other).error().message, contains("f32[6] in the job"));
  CHECK(model == Model());
}
