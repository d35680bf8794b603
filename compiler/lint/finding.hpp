#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dtj/lint.hpp"

namespace dtj::lint {

enum class Kind : std::uint8_t {
#define DTJ_LINT_RULE(kind, code, tier, placeholder, summary, why, example) kind,
#include "compiler/lint/rules.def"
#undef DTJ_LINT_RULE
};

/// One rule of the table. Texts are sentences without a full stop.
struct Rule {
  Kind kind;
  std::string_view name, code;
  Tier tier;
  std::string_view placeholder, summary, why, example;
};

/// All rules, ordered by code; indexed by `Kind`.
const std::vector<Rule>& rule_table();
const Rule& rule_of(Kind kind);
/// By code (L101) or by name (partition); null when there is none.
const Rule* find_rule(std::string_view name);

}  // namespace dtj::lint
