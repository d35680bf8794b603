#include "engine/base/nearest.hpp"

#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::diag {

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates) {
  return dtj::nearest(name, candidates);
}

}  // namespace dtj::diag
