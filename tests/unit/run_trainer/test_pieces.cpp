#include <cmath>
#include <cstring>

#include "engine/run/initialise.hpp"
#include "engine/run/progress.hpp"
#include "tests/support/contains.hpp"

using namespace dtj;
using namespace dtj::run;
using namespace dtj::test;

TEST_CASE("to_steps: resolves every unit but time", "[unit][run]") {
  const StepSize size{468, 128, 64};
  CHECK(to_steps({500, ProgressUnit::step}, size) == 500);
  CHECK(to_steps({10, ProgressUnit::epoch}, size) == 4680);
  CHECK(to_steps({0.5, ProgressUnit::epoch}, size) == 234);
  CHECK(to_steps({0.0001, ProgressUnit::epoch}, size) == 1);
  CHECK(to_steps({1000, ProgressUnit::sample}, size) == 8);
  CHECK(to_steps({8192 * 3 + 1, ProgressUnit::tok}, size) == 4);
  CHECK_FALSE(to_steps({30, ProgressUnit::time}, size));
}

TEST_CASE("intervals: whichever comes first", "[unit][run]") {
  const Intervals intervals(
      {{10, ProgressUnit::step}, {1, ProgressUnit::epoch}, {60, ProgressUnit::time}, {90, ProgressUnit::time}},
      {25, 1, 1});
  CHECK(intervals.is_due_at(20));
  CHECK(intervals.is_due_at(25));
  CHECK_FALSE(intervals.is_due_at(26));
  CHECK_FALSE(intervals.is_due_after(59));
  CHECK(intervals.is_due_after(60));
  CHECK_FALSE(Intervals().is_due_at(1));
  CHECK_FALSE(Intervals().is_due_after(1e9));
}

namespace {

std::vector<float> filled(const InitSpec& init, const std::string& name, std::size_t count, std::uint64_t seed = 1) {
  std::vector<float> values(count, -9);
  initialise(init, seed, name, DType::f32, reinterpret_cast<std::byte*>(values.data()), std::int64_t(count));
  return values;
}

}  // namespace

TEST_CASE("initialise: an element depends on seed, name and its index only", "[unit][run]") {
  const InitSpec normal{InitKind::normal, 0, 1};
  const auto large = filled(normal, "w", 1000);
  const auto small = filled(normal, "w", 10);
  CHECK(std::equal(small.begin(), small.end(), large.begin()));
  CHECK(filled(normal, "v", 10) != small);
  CHECK(filled(normal, "w", 10, 2) != small);
}

TEST_CASE("initialise: the distributions are the stated ones", "[unit][run]") {
  for (const float value : filled({InitKind::constant, 0.25, 0}, "w", 5)) CHECK(value == 0.25f);
  double sum = 0, square = 0;
  const auto normal = filled({InitKind::normal, 3, 0.5}, "w", 20'000);
  for (const float value : normal) {
    sum += value;
    square += (value - 3.0) * (value - 3.0);
  }
  CHECK(sum / 20'000 == Approx(3).margin(0.02));
  CHECK(std::sqrt(square / 20'000) == Approx(0.5).margin(0.02));
  const auto uniform = filled({InitKind::uniform, -2, 1}, "w", 20'000);
  const auto [low, high] = std::minmax_element(uniform.begin(), uniform.end());
  CHECK(*low >= -2);
  CHECK(*low < -1.99);
  CHECK(*high < 1.0001);
  CHECK(*high > 0.99);
}

TEST_CASE("initialise: rounds to the stored dtype", "[unit][run]") {
  std::uint16_t half = 0;
  initialise({InitKind::constant, 1.0 / 3, 0}, 1, "w", DType::bf16, reinterpret_cast<std::byte*>(&half), 1);
  CHECK(half == f32_to_bf16(1.0f / 3));
  double wide = 0;
  initialise({InitKind::constant, 1.0 / 3, 0}, 1, "w", DType::f64, reinterpret_cast<std::byte*>(&wide), 1);
  CHECK(wide == 1.0 / 3);
}
