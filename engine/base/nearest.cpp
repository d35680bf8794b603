#include "engine/base/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace dtj {
namespace {

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// Damerau-Levenshtein distance (optimal string alignment): insert, delete, replace, swap neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates) {
  // A name of one letter resembles every other one; a longer one may be wrong in a third of its letters.
  constexpr std::size_t max_length = 100;
  if (name.size() > max_length) return std::nullopt;
  const std::string lower_name = to_lower(name);
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > max_length) continue;
    const std::string lower_candidate = to_lower(candidate);
    // Twice the distance, so that a difference in case alone counts as half an edit.
    const std::size_t distance =
        2 * edit_distance(lower_name, lower_candidate) + (lower_name == lower_candidate && name != candidate ? 1 : 0);
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t limit = longer < 2 ? 1 : 2 * (std::max<std::size_t>(longer, 3) / 3);
    if (distance > limit || (best != nullptr && distance >= best_distance)) continue;
    best = &candidate;
    best_distance = distance;
  }
  return best == nullptr ? std::nullopt : std::optional<std::string>(*best);
}

}  // namespace dtj
