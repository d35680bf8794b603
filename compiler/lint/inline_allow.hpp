#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/finding.hpp"

namespace dtj::lint {

/// `dtj:allow RULE[,RULE] reason` in a comment: for its own line, or for the next one when it stands alone.
struct InlineAllow {
  std::uint32_t line = 0;  ///< that it allows
  std::vector<std::string> rules;
  std::string reason;
};

/// The comment of the line, when it has one with a reason. `line` is its number.
std::vector<InlineAllow> read_inline_allow(std::string_view text, std::uint32_t line);
/// Of a list for several lines.
std::string reason_for(const std::vector<InlineAllow>& allows, const Finding& finding);

}  // namespace dtj::lint
