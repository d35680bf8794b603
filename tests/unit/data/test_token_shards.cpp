#include <cstring>

#include "tests/support/contains.hpp"
#include "tests/unit/data/data_specs.hpp"

namespace {

using namespace dtj;
using namespace dtj::test;

std::string raw_tokens(int first, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += {char((first + i) & 0xFF), char((first + i) >> 8)};
  return bytes;
}

std::string llmc_header(std::int32_t version, std::int32_t num_tokens) {
  std::int32_t words[256] = {20240520, version, num_tokens};
  std::string bytes(sizeof words, '\0');
  std::memcpy(bytes.data(), words, sizeof words);
  return bytes;
}

DataSpec shard_spec(const TempDir& dir, std::int64_t seq, std::int64_t vocab = 0) {
  DataSpec spec = token_spec(SourceKind::token_shards, dir.path().string(), seq);
  spec.source.vocab = vocab;
  return spec;
}

}  // namespace

TEST_CASE("token_shards: reads both formats and never crosses a file", "[unit][data]") {
  const TempDir dir;
  dir.write("b.bin", llmc_header(1, 9) + raw_tokens(1000, 9));
  dir.write("a.bin", raw_tokens(0, 10));
  dir.write("tiny.bin", raw_tokens(5000, 2));
  dir.write("notes.txt", "odd");
  const auto dataset = data::open_dataset(shard_spec(dir, 4));
  REQUIRE(dataset);
  CHECK((*dataset)->num_samples() == 4);
  const auto second = read_tokens(**dataset, 4, {0, 1});
  const auto third = read_tokens(**dataset, 4, {0, 2});
  REQUIRE((second && third));
  CHECK(second->tokens == std::vector<std::int32_t>{4, 5, 6, 7});
  CHECK(second->targets == std::vector<std::int32_t>{5, 6, 7, 8});
  CHECK(third->tokens == std::vector<std::int32_t>{1000, 1001, 1002, 1003});
  CHECK(read_tokens(**dataset, 4, {0, 3})->targets[3] == 1008);
}

TEST_CASE("token_shards: u32 tokens of llm.c", "[unit][data]") {
  const TempDir dir;
  std::int32_t words[256 + 9] = {20240801, 7, 9};
  for (int i = 0; i < 9; ++i) words[256 + i] = 100'000 + i;
  const auto write = [&] { dir.write("a.bin", std::string(reinterpret_cast<const char*>(words), sizeof words)); };
  write();
  const auto dataset = data::open_dataset(shard_spec(dir, 4));
  REQUIRE(dataset);
  CHECK((*dataset)->num_samples() == 2);
  CHECK(read_tokens(**dataset, 4, {0, 1})->targets == std::vector<std::int32_t>{100'005, 100'006, 100'007, 100'008});
  words[1] = 1;
  write();
  CHECK_THAT(open_error(shard_spec(dir, 4)), contains("version 1") && contains("only version 7 (u32 tokens)"));
  words[1] = 7;
  words[256 + 2] = -1;
  write();
  const auto bad = read_tokens(**data::open_dataset(shard_spec(dir, 4)), 4, {0, 0});
  REQUIRE_FALSE(bad);
  CHECK_THAT(bad.error().message, contains("token 4294967295 at position 2"));
}

TEST_CASE("token_shards: shuffled windows stay inside their file in every epoch", "[unit][data]") {
  const TempDir dir;
  dir.write("a.bin", raw_tokens(0, 30));
  dir.write("b.bin", raw_tokens(100, 23));
  DataSpec spec = shard_spec(dir, 7);
  spec.sampler.kind = SamplerKind::shuffle;
  const auto dataset = data::open_dataset(spec);
  REQUIRE(dataset);
  REQUIRE((*dataset)->num_samples() == 3 + 2);
  for (std::int64_t epoch = 0; epoch < 50; ++epoch) {
    CHECK(read_tokens(**dataset, 7, {epoch, 2})->targets[6] < 30);
    CHECK(read_tokens(**dataset, 7, {epoch, 3})->tokens[0] >= 100);
    CHECK(read_tokens(**dataset, 7, {epoch, 4})->targets[6] < 123);
  }
}

TEST_CASE("token_shards: a token outside the vocabulary is an error when it is read", "[unit][data]") {
  const TempDir dir;
  dir.write("a.bin", raw_tokens(0, 20));
  const auto dataset = data::open_dataset(shard_spec(dir, 4, 10));
  REQUIRE(dataset);
  CHECK(read_tokens(**dataset, 4, {0, 0}));
  const auto bad = read_tokens(**dataset, 4, {0, 2});
  REQUIRE_FALSE(bad);
  CHECK_THAT(bad.error().message,
             contains("token 10 at position 10 of `") && contains("a.bin") && contains("vocabulary of 10"));
}

TEST_CASE("token_shards: damaged files are named", "[unit][data]") {
  const TempDir dir;
  CHECK_THAT(open_error(shard_spec(dir, 4)), contains("not_found") && contains("`*.bin`"));
  dir.write("a.bin", "abc");
  CHECK_THAT(open_error(shard_spec(dir, 4)), contains("3 bytes, an odd number"));
  dir.write("a.bin", llmc_header(1, 9).substr(0, 600));
  CHECK_THAT(open_error(shard_spec(dir, 4)), contains("header of `") && contains("expected 1024 bytes, found 600"));
  dir.write("a.bin", llmc_header(1, 9) + raw_tokens(0, 7));
  CHECK_THAT(open_error(shard_spec(dir, 4)), contains("states 9 tokens: expected 1042 bytes, found 1038"));
  dir.write("a.bin", llmc_header(7, 9) + raw_tokens(0, 9));
  CHECK_THAT(open_error(shard_spec(dir, 4)), contains("version 7"));
  dir.write("a.bin", raw_tokens(0, 4));
  CHECK_THAT(open_error(shard_spec(dir, 4)), contains("the longest has 4 tokens, and samples of 4 tokens need 5"));
}
