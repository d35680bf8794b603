#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/import_weights.hpp"
#include "engine/checkpoint/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temp_dir.hpp"

using namespace dtj;

namespace {

const std::vector<float> counting = {1, 2, 3, 4, 5, 6};

/// A file with one matrix "w" [2, 3] of 1..6 in `dtype`.
std::string write_matrix(const test::TempDir& dir, DType dtype) {
  std::vector<std::uint16_t> halves;
  for (const float value : counting) halves.push_back(dtype == DType::bf16 ? f32_to_bf16(value) : f32_to_f16(value));
  const void* data = dtype == DType::f32 ? static_cast<const void*>(counting.data()) : halves.data();
  const checkpoint::TensorView view{"w", dtype, {2, 3}, static_cast<const std::byte*>(data)};
  const std::string path = dir.file("w.safetensors");
  REQUIRE(checkpoint::write_safetensors(path, {&view, 1}));
  return path;
}

WeightsSpec spec_of(std::string path, bool transpose) {
  WeightsSpec spec;
  spec.path = std::move(path);
  spec.sources = {{"fc.weight", "w", transpose}};
  return spec;
}

checkpoint::TensorTarget target_of(std::vector<float>& values, Shape shape) {
  return {"fc.weight", DType::f32, std::move(shape), reinterpret_cast<std::byte*>(values.data())};
}

}  // namespace

TEST_CASE("import_weights: f16, bf16 and f32 become f32, as they lie or turned round", "[unit][checkpoint]") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const test::TempDir dir;
    const std::string path = write_matrix(dir, dtype);
    std::vector<float> values(6);
    auto target = target_of(values, {2, 3});
    const auto imported = checkpoint::import_weights(spec_of(path, false), {&target, 1});
    REQUIRE(imported);
    CHECK(imported->num_tensors == 1);
    CHECK(values == counting);
    target.shape = {3, 2};
    REQUIRE(checkpoint::import_weights(spec_of(path, true), {&target, 1}));
    CHECK(values == std::vector<float>{1, 4, 2, 5, 3, 6});
  }
}

TEST_CASE("import_weights: f32 becomes bf16, rounded", "[unit][checkpoint]") {
  const test::TempDir dir;
  const std::string path = write_matrix(dir, DType::f32);
  std::vector<std::uint16_t> values(6);
  const checkpoint::TensorTarget target{"fc.weight", DType::bf16, {2, 3}, reinterpret_cast<std::byte*>(values.data())};
  REQUIRE(checkpoint::import_weights(spec_of(path, false), {&target, 1}));
  for (std::size_t i = 0; i < 6; ++i) CHECK(values[i] == f32_to_bf16(counting[i]));
}

TEST_CASE("import_weights: nothing is written when anything does not fit", "[unit][checkpoint]") {
  const test::TempDir dir;
  std::vector<float> values(6, 9);
  auto target = target_of(values, {3, 2});
  const auto imported = checkpoint::import_weights(spec_of(write_matrix(dir, DType::f32), false), {&target, 1});
  REQUIRE_FALSE(imported);
  CHECK(imported.error().code == ErrorCode::invalid_argument);
  CHECK_THAT(imported.error().message,
             test::contains("`w` is [2, 3], and `fc.weight` of the model is [3, 2]: its rule needs `transpose = true`"));
  CHECK(values == std::vector<float>(6, 9));
}

TEST_CASE("import_weights: a parameter that the file lacks keeps its values where the job allows it", "[unit][checkpoint]") {
  const test::TempDir dir;
  WeightsSpec spec = spec_of(write_matrix(dir, DType::f32), false);
  spec.sources[0].tensor = "ww";
  spec.unexpected = {"*"};
  std::vector<float> values(6, 9);
  auto target = target_of(values, {2, 3});
  const auto refused = checkpoint::import_weights(spec, {&target, 1});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, test::contains("there is no `ww` for `fc.weight`; did you mean `w`?"));
  spec.missing = MissingWeights::initialise;
  const auto imported = checkpoint::import_weights(spec, {&target, 1});
  REQUIRE(imported);
  CHECK(imported->initialised == std::vector<std::string>{"fc.weight"});
  CHECK(values == std::vector<float>(6, 9));
}

TEST_CASE("import_weights: integers are no weights", "[unit][checkpoint]") {
  const test::TempDir dir;
  const std::vector<std::int32_t> numbers(6, 1);
  const checkpoint::TensorView view{"w", DType::i32, {2, 3}, reinterpret_cast<const std::byte*>(numbers.data())};
  const std::string path = dir.file("w.safetensors");
  REQUIRE(checkpoint::write_safetensors(path, {&view, 1}));
  std::vector<float> values(6);
  auto target = target_of(values, {2, 3});
  const auto imported = checkpoint::import_weights(spec_of(path, false), {&target, 1});
  REQUIRE_FALSE(imported);
  CHECK_THAT(imported.error().message, test::contains("`w` is i32, and parameters are floats"));
}
