#include "engine/base/job_spec.hpp"

#include <algorithm>

namespace dtj {

std::optional<std::uint32_t> JobSpec::weight_metric() const {
  const auto found = std::find(metrics.begin(), metrics.end(), "weight");
  if (found == metrics.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - metrics.begin());
}

}  // namespace dtj
