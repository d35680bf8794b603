#pragma once

#include <string_view>

#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::diag {

inline std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

}  // namespace dtj::diag
