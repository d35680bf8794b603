#include <cstring>

#include "engine/data/loader.hpp"
#include "tests/support/contains.hpp"
#include "tests/unit/data/data_specs.hpp"

namespace {

using namespace dtj;
using namespace dtj::test;

// Sample i of epoch e holds x = 1000 e + i and target i.
class Numbers final : public data::Dataset {
 public:
  explicit Numbers(std::int64_t size, std::int64_t bad = -1) : size_(size), bad_(bad) {}
  std::int64_t num_samples() const override { return size_; }
  Status read(data::SampleId id, gsl::span<std::byte* const> fields) const override {
    if (id.index == bad_) return fail(ErrorCode::data_loss, "sample is damaged");
    const auto x = static_cast<float>(1000 * id.epoch + id.index);
    const auto target = static_cast<std::int32_t>(id.index);
    std::memcpy(fields[0], &x, sizeof x);
    std::memcpy(fields[1], &target, sizeof target);
    return {};
  }

 private:
  std::int64_t size_, bad_;
};

DataSpec number_spec(std::int64_t micro, std::int64_t accumulation, std::int64_t dp) {
  DataSpec spec;
  spec.name = "numbers";
  spec.micro_batch = micro;
  spec.gradient_accumulation = accumulation;
  spec.global_batch = micro * accumulation * dp;
  spec.fields = {{"x", DType::f32, {}, false}, {"target", DType::i32, {}, true}};
  return spec;
}

struct Reading {
  Reading(const data::Dataset& dataset, const DataSpec& spec, std::int64_t dp, const data::LoaderOptions& options)
      : sampler(data::Sampler::create(spec, dataset.num_samples(), dp).value()),
        loader(data::Loader::create(dataset, spec, sampler, options)),
        micro(std::size_t(spec.micro_batch)) {}

  std::vector<float> next() {
    const auto batch = loader->next();
    REQUIRE(batch);
    num_valid = (*batch)->num_valid;
    std::vector<float> x(micro);
    targets.resize(micro);
    std::memcpy(x.data(), (*batch)->fields[0], micro * sizeof(float));
    std::memcpy(targets.data(), (*batch)->fields[1], micro * sizeof(std::int32_t));
    return x;
  }

  data::Sampler sampler;
  std::unique_ptr<data::Loader> loader;
  std::size_t micro;
  std::vector<std::int32_t> targets;
  std::int64_t num_valid = 0;
};

using Values = std::vector<float>;

}  // namespace

TEST_CASE("loader: gives a rank its part of each micro batch, epoch after epoch", "[unit][data]") {
  const Numbers dataset(9);
  Reading reading(dataset, number_spec(2, 1, 2), 2, {1, 4});
  CHECK(reading.next() == Values{2, 3});
  CHECK(reading.next() == Values{6, 7});
  CHECK(reading.next() == Values{1002, 1003});  // sample 8 is dropped
  CHECK(reading.next() == Values{1006, 1007});
}

TEST_CASE("loader: reads micro batches of a step in order", "[unit][data]") {
  const Numbers dataset(16);
  Reading reading(dataset, number_spec(2, 2, 2), 2, {0, 2});
  CHECK(reading.next() == Values{0, 1});
  CHECK(reading.next() == Values{4, 5});
  CHECK(reading.next() == Values{8, 9});
  CHECK(reading.next() == Values{12, 13});
}

TEST_CASE("loader: seek gives what reading on would have given", "[unit][data]") {
  const Numbers dataset(100);
  DataSpec spec = number_spec(3, 2, 1);
  spec.sampler = {SamplerKind::shuffle, 9, LastBatch::drop};
  for (const std::int64_t prefetch : {1, 2, 7}) {
    spec.prefetch = prefetch;
    Reading straight(dataset, spec, 1, {0, std::nullopt});
    std::vector<Values> expected;
    for (int i = 0; i < 120; ++i) expected.push_back(straight.next());
    Reading jumping(dataset, spec, 1, {0, std::nullopt});
    for (const std::size_t step : {17u, 3u, 59u, 0u, 16u}) {
      jumping.loader->seek(std::int64_t(step));
      CHECK(jumping.next() == expected[2 * step]);
      CHECK(jumping.next() == expected[2 * step + 1]);
    }
  }
}

TEST_CASE("loader: padded samples are counted and marked", "[unit][data]") {
  const Numbers dataset(5);
  DataSpec spec = number_spec(2, 1, 2);
  spec.sampler.last_batch = LastBatch::pad;
  Reading first(dataset, spec, 2, {0, 2});
  CHECK(first.next() == Values{0, 1});
  CHECK(first.num_valid == 2);
  CHECK(first.next() == Values{4, 0});
  CHECK(first.num_valid == 1);
  CHECK(first.targets == std::vector<std::int32_t>{4, -1});
  Reading second(dataset, spec, 2, {1, 2});
  second.next();
  CHECK(second.next() == Values{0, 0});
  CHECK(second.num_valid == 0);
  CHECK(second.targets == std::vector<std::int32_t>{-1, -1});
}

TEST_CASE("loader: an error of the data set arrives at its micro batch", "[unit][data]") {
  const Numbers dataset(8, 5);
  Reading reading(dataset, number_spec(2, 1, 1), 1, {0, 4});
  CHECK(reading.next() == Values{0, 1});
  CHECK(reading.next() == Values{2, 3});
  const auto bad = reading.loader->next();
  REQUIRE_FALSE(bad);
  CHECK_THAT(bad.error().to_string(), contains("sample is damaged") && contains("data `numbers`"));
  CHECK(reading.next() == Values{6, 7});
}

TEST_CASE("hash_sample: differs by content and by the size of the data set", "[unit][data]") {
  const DataSpec spec = number_spec(1, 1, 1);
  const std::uint64_t hash = data::hash_sample(Numbers(8), spec, {0, 3}).value();
  CHECK(data::hash_sample(Numbers(8), spec, {0, 3}).value() == hash);
  CHECK(data::hash_sample(Numbers(8), spec, {0, 4}).value() != hash);
  CHECK(data::hash_sample(Numbers(9), spec, {0, 3}).value() != hash);
}
