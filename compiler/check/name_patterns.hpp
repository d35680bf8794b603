#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/trace.hpp"
#include "compiler/check/value.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "engine/base/name_pattern.hpp"

// Patterns of parameter names, which the job states in `freeze`, in groups of an optimizer and in the map of weights.

namespace dtj::check {

struct StatedPattern {
  NamePattern pattern;
  source::Range range;
};

/// None: reported, or a placeholder without a value. `user` names what takes the pattern: "`freeze`".
std::optional<StatedPattern> read_pattern(const Value& value, std::string_view user, diag::Sink& sink);

/// A list of patterns. None: reported.
std::optional<std::vector<StatedPattern>> read_patterns(const Value& value, std::string_view key, diag::Sink& sink);

/// Says that no parameter has such a name, with the nearest one that there is.
void report_no_match(diag::Kind kind, source::Range range, std::string message, const NamePattern& pattern,
                     const std::vector<ParamInfo>& params, diag::Sink& sink);

}  // namespace dtj::check
