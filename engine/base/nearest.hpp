#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtj {

/// The candidate nearest to `name` by edit distance, if near enough to be a likely typing mistake.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace dtj
