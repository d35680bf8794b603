#include "compiler/codegen/arena.hpp"

#include <algorithm>
#include <numeric>

namespace dtj::codegen {
namespace {

bool overlap_in_time(const Interval& a, const Interval& b) {
  return a.first <= b.last && b.first <= a.last;
}

bool overlap_in_bytes(const Interval& a, const Interval& b) {
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

/// The start of the smallest gap between `neighbours` (by offset) that holds `size` bytes, or the end of the last one.
std::int64_t best_gap(const std::vector<const Interval*>& neighbours, std::int64_t size) {
  std::int64_t end = 0;
  std::int64_t best = -1;
  std::int64_t best_room = 0;
  for (const auto* neighbour : neighbours) {
    const std::int64_t room = neighbour->offset - end;
    if (room >= size && (best < 0 || room < best_room)) {
      best = end;
      best_room = room;
    }
    end = std::max(end, align_up(neighbour->offset + neighbour->size));
  }
  return best < 0 ? end : best;
}

}  // namespace

std::int64_t align_up(std::int64_t bytes) {
  return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

std::int64_t place(std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // By size, then by time, then by number: the same plan on every machine.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (intervals[a].size != intervals[b].size) return intervals[a].size > intervals[b].size;
    return intervals[a].first < intervals[b].first;
  });

  std::vector<const Interval*> placed;  // by offset
  std::int64_t peak = 0;
  for (const std::size_t index : order) {
    Interval& interval = intervals[index];
    if (interval.size == 0) continue;
    std::vector<const Interval*> neighbours;
    std::copy_if(placed.begin(), placed.end(), std::back_inserter(neighbours),
                 [&](const Interval* other) { return overlap_in_time(interval, *other); });
    interval.offset = best_gap(neighbours, interval.size);
    peak = std::max(peak, interval.offset + interval.size);
    const auto at = std::upper_bound(placed.begin(), placed.end(), interval.offset,
                                     [](std::int64_t offset, const Interval* other) { return offset < other->offset; });
    placed.insert(at, &interval);
  }
  return align_up(peak);
}

std::optional<std::pair<std::size_t, std::size_t>> find_conflict(const std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return intervals[a].first < intervals[b].first; });
  std::vector<std::size_t> alive;
  for (const std::size_t index : order) {
    const Interval& interval = intervals[index];
    if (interval.size == 0) continue;
    std::erase_if(alive, [&](std::size_t other) { return intervals[other].last < interval.first; });
    for (const std::size_t other : alive)
      if (overlap_in_bytes(intervals[other], interval)) return std::pair{other, index};
    alive.push_back(index);
  }
  return std::nullopt;
}

}  // namespace dtj::codegen
