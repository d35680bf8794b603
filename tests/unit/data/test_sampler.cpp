#include <algorithm>
#include <set>

#include "engine/data/sampler.hpp"
#include "tests/support/contains.hpp"
#include "tests/unit/data/data_specs.hpp"

namespace {

using namespace dtj;
using namespace dtj::test;

DataSpec batch_spec(std::int64_t micro, std::int64_t accumulation, std::int64_t dp) {
  DataSpec spec;
  spec.name = "train";
  spec.sampler = {SamplerKind::shuffle, 42, LastBatch::drop};
  spec.micro_batch = micro;
  spec.gradient_accumulation = accumulation;
  spec.global_batch = micro * accumulation * dp;
  return spec;
}

data::Sampler make_sampler(const DataSpec& spec, std::int64_t num_samples, std::int64_t dp) {
  auto sampler = data::Sampler::create(spec, num_samples, dp);
  REQUIRE(sampler);
  return *sampler;
}

// The samples of a step over all ranks.
std::vector<std::int64_t> step_samples(const data::Sampler& sampler, std::int64_t epoch, std::int64_t step,
                                       std::int64_t dp) {
  std::vector<std::int64_t> samples;
  for (std::int64_t micro = 0; micro < sampler.num_micro_batches(); ++micro) {
    for (std::int64_t rank = 0; rank < dp; ++rank) {
      for (std::int64_t i = 0; i < sampler.micro_batch(); ++i) {
        samples.push_back(sampler.sample(epoch, sampler.position(step, micro, rank) + i)->index);
      }
    }
  }
  return samples;
}

}  // namespace

TEST_CASE("sampler: an epoch is a permutation of the data set", "[unit][data]") {
  for (const std::int64_t size : {1, 2, 7, 64, 1000, 4097}) {
    const auto sampler = make_sampler(batch_spec(1, 1, 1), size, 1);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < size; ++i) seen.insert(sampler.sample(3, i)->index);
    CHECK(std::int64_t(seen.size()) == size);
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == size - 1);
  }
}

TEST_CASE("sampler: ranks and micro batches cover each sample of an epoch once", "[unit][data]") {
  const auto sampler = make_sampler(batch_spec(3, 2, 4), 240, 4);
  CHECK(sampler.steps_per_epoch() == 10);
  std::multiset<std::int64_t> seen;
  for (std::int64_t step = 0; step < 10; ++step) {
    for (const std::int64_t index : step_samples(sampler, 1, step, 4)) seen.insert(index);
  }
  CHECK(seen.size() == 240);
  CHECK(std::set<std::int64_t>(seen.begin(), seen.end()).size() == 240);
}

TEST_CASE("sampler: a step holds the same samples for every data-parallel degree", "[unit][data]") {
  const auto one = make_sampler(batch_spec(12, 1, 1), 500, 1);
  const auto two = make_sampler(batch_spec(3, 2, 2), 500, 2);
  const auto four = make_sampler(batch_spec(3, 1, 4), 500, 4);
  for (std::int64_t step = 0; step < one.steps_per_epoch(); ++step) {
    const auto expected = step_samples(one, 2, step, 1);
    CHECK(step_samples(two, 2, step, 2) == expected);
    CHECK(step_samples(four, 2, step, 4) == expected);
  }
}

TEST_CASE("sampler: seed and epoch change the order, sequential does not", "[unit][data]") {
  DataSpec spec = batch_spec(100, 1, 1);
  const auto first = step_samples(make_sampler(spec, 100, 1), 0, 0, 1);
  CHECK(step_samples(make_sampler(spec, 100, 1), 0, 0, 1) == first);
  CHECK(step_samples(make_sampler(spec, 100, 1), 1, 0, 1) != first);
  spec.sampler.seed = 43;
  CHECK(step_samples(make_sampler(spec, 100, 1), 0, 0, 1) != first);
  spec.sampler.kind = SamplerKind::sequential;
  const auto in_order = step_samples(make_sampler(spec, 100, 1), 5, 0, 1);
  CHECK(std::is_sorted(in_order.begin(), in_order.end()));
}

TEST_CASE("sampler: a padded last batch ends in samples that do not exist", "[unit][data]") {
  DataSpec spec = batch_spec(4, 1, 2);
  spec.sampler.last_batch = LastBatch::pad;
  const auto sampler = make_sampler(spec, 17, 2);
  CHECK(sampler.steps_per_epoch() == 3);
  CHECK(sampler.sample(0, 16));
  CHECK_FALSE(sampler.sample(0, 17));
  CHECK(make_sampler(spec, 5, 2).steps_per_epoch() == 1);
}

TEST_CASE("sampler: data smaller than one global batch is an error with the numbers", "[unit][data]") {
  const auto sampler = data::Sampler::create(batch_spec(64, 1, 2), 100, 2);
  REQUIRE_FALSE(sampler);
  CHECK_THAT(sampler.error().message, contains("data `train`") && contains("100 samples") && contains("128"));
  CHECK_FALSE(data::Sampler::create(batch_spec(64, 1, 2), 1000, 3));
}
