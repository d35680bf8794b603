#include "compiler/codegen/arena.hpp"

#include <algorithm>

#include "engine/base/philox.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using namespace dtj::codegen;

TEST_CASE("place: what is not in use together shares bytes", "[unit][codegen]") {
  std::vector<Interval> intervals = {{128, 0, 1, 0}, {128, 2, 3, 0}, {64, 1, 2, 0}};
  CHECK(place(intervals) == 192);
  CHECK(intervals[0].offset == intervals[1].offset);
  CHECK(intervals[2].offset == 128);
}

TEST_CASE("place: the last read and the first write of one moment do not share", "[unit][codegen]") {
  std::vector<Interval> intervals = {{64, 0, 2, 0}, {64, 2, 4, 0}};
  CHECK(place(intervals) == 128);
  CHECK(intervals[0].offset != intervals[1].offset);
}

TEST_CASE("place: takes the smallest gap that is large enough", "[unit][codegen]") {
  // At time 1: 512 bytes, a gap of 256, 384, a gap of 128, 320, in the order of their sizes.
  std::vector<Interval> intervals = {{512, 0, 9, 0}, {448, 0, 0, 0}, {384, 0, 9, 0}, {128, 1, 9, 0}, {256, 1, 9, 0}};
  const auto peak = place(intervals);
  CHECK(peak == 512 + 448 + 384);
  CHECK_FALSE(find_conflict(intervals));
}

TEST_CASE("place: offsets are aligned and empty tensors take nothing", "[unit][codegen]") {
  std::vector<Interval> intervals = {{4, 0, 5, 0}, {0, 0, 5, 0}, {100, 0, 5, 0}};
  CHECK(place(intervals) == 192);
  for (const auto& interval : intervals) CHECK(interval.offset % buffer_alignment == 0);
  CHECK_FALSE(find_conflict(intervals));
}

TEST_CASE("place: random intervals never conflict and stay near the lower bound", "[unit][codegen]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const PhiloxStream random(seed, 1);
    std::vector<Interval> intervals;
    for (std::uint64_t i = 0; i < 80; ++i) {
      const auto first = static_cast<std::int64_t>(random.uniform(3 * i) * 60);
      const auto length = static_cast<std::int64_t>(random.uniform(3 * i + 1) * 12);
      const auto size = static_cast<std::int64_t>(random.uniform(3 * i + 2) * 5000);
      intervals.push_back({size, first, first + length, 0});
    }
    const auto peak = place(intervals);
    REQUIRE_FALSE(find_conflict(intervals));
    std::int64_t bound = 0;
    for (std::int64_t time = 0; time < 80; ++time) {
      std::int64_t in_use = 0;
      for (const auto& interval : intervals)
        if (interval.first <= time && time <= interval.last) in_use += align_up(interval.size);
      bound = std::max(bound, in_use);
    }
    REQUIRE(peak >= bound);
    REQUIRE(peak <= bound + bound / 2);
  }
}

TEST_CASE("find_conflict: names two that share bytes in use", "[unit][codegen]") {
  const std::vector<Interval> intervals = {{64, 0, 3, 0}, {64, 4, 5, 0}, {64, 3, 4, 32}};
  const auto conflict = find_conflict(intervals);
  REQUIRE(conflict);
  CHECK(conflict->first == 0);
  CHECK(conflict->second == 2);
}
