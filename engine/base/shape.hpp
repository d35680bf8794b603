#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dtj {

/// Row-major extents; a scalar has no dims. An extent may be 0.
using Shape = std::vector<std::int64_t>;

std::int64_t num_elements(const Shape& shape);
/// Row-major strides in elements.
std::vector<std::int64_t> contiguous_strides(const Shape& shape);
/// "[2, 3]"
std::string to_string(const Shape& shape);

}  // namespace dtj
