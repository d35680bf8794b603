#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace dtj::codegen {

/// Every buffer starts at a multiple of this many bytes from the start of its arena.
inline constexpr std::int64_t buffer_alignment = 64;

std::int64_t align_up(std::int64_t bytes);

/// Memory that is in use from time `first` to time `last`, both included.
struct Interval {
  std::int64_t size = 0;  ///< bytes
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t offset = 0;  ///< set by `place`
};

/// Gives every interval an aligned offset so that no two in use at the same time share a byte: large ones first, each
/// into the smallest gap that holds it. Returns the bytes needed in all.
std::int64_t place(std::vector<Interval>& intervals);

/// Two intervals that are in use at the same time and share bytes: a mistake of `place` or of the times given to it.
std::optional<std::pair<std::size_t, std::size_t>> find_conflict(const std::vector<Interval>& intervals);

}  // namespace dtj::codegen
