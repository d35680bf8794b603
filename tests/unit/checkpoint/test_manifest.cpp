#include "engine/checkpoint/manifest.hpp"

#include <cmath>
#include <limits>

#include "tests/unit/checkpoint/checkpoint_fixture.hpp"

using namespace dtj;
using namespace dtj::test;

TEST_CASE("manifest: its text is read back as it was", "[unit][checkpoint]") {
  checkpoint::Manifest manifest = make_manifest(12);
  manifest.shards = {{"shard-00000-of-00001.safetensors", 99}};
  manifest.tensors = {{"w", 0, DType::bf16, {2, 3}, 0xFFFFFFFFFFFFFFFFu}};
  manifest.contract.precision.compute = DType::bf16;
  const std::string text = checkpoint::to_json(manifest);
  const auto parsed = checkpoint::parse_manifest(text);
  REQUIRE(parsed);
  CHECK(checkpoint::to_json(*parsed) == text);
  CHECK(parsed->tensors[0].checksum == 0xFFFFFFFFFFFFFFFFu);
}

TEST_CASE("manifest: numbers that JSON does not have are left out", "[unit][checkpoint]") {
  checkpoint::Manifest manifest = make_manifest(12);
  manifest.state.metrics["bad"] = std::nan("");
  manifest.state.learning_rate = std::numeric_limits<double>::infinity();
  const auto parsed = checkpoint::parse_manifest(checkpoint::to_json(manifest));
  REQUIRE(parsed);
  CHECK(parsed->state.metrics.size() == 1);
}

TEST_CASE("manifest: a newer format is refused by its number", "[unit][checkpoint]") {
  std::string text = checkpoint::to_json(make_manifest(12));
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  const auto parsed = checkpoint::parse_manifest(text);
  REQUIRE_FALSE(parsed);
  CHECK_THAT(parsed.error().message, contains("format version 9"));
}
