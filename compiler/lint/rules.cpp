#include <algorithm>

#include <fmt/format.h>

#include "compiler/lint/finding.hpp"

namespace dtj::lint {

const std::vector<Rule>& rule_table() {
  static const std::vector<Rule> table = {
#define DTJ_LINT_RULE(kind, code, tier, placeholder, summary, why, example) \
  Rule{Kind::kind, #kind, code, Tier::tier, placeholder, summary, why, example},
#include "compiler/lint/rules.def"
#undef DTJ_LINT_RULE
  };
  return table;
}

const Rule& rule_of(Kind kind) { return rule_table().at(static_cast<std::size_t>(kind)); }

const Rule* find_rule(std::string_view name) {
  const auto& table = rule_table();
  const auto it = std::find_if(table.begin(), table.end(), [&](const Rule& rule) { return rule.code == name || rule.name == name; });
  return it == table.end() ? nullptr : &*it;
}

const std::vector<RuleInfo>& rules() {
  static const std::vector<RuleInfo> infos = [] {
    std::vector<RuleInfo> out;
    for (const Rule& rule : rule_table()) {
      out.push_back({std::string(rule.code), std::string(rule.name), rule.tier, fmt::format("<{}>", rule.placeholder), std::string(rule.summary),
                     std::string(rule.why), std::string(rule.example)});
    }
    return out;
  }();
  return infos;
}

std::optional<std::string> explain(std::string_view code) {
  const Rule* rule = find_rule(code);
  if (rule == nullptr) return std::nullopt;
  return fmt::format("{} {}: {}\n\nWhy: {}.\nWrite instead: {}\nTier: {}. To allow one on purpose, say why beside it: dtj:allow {} reason\n", rule->code,
                     rule->name, rule->summary, rule->why, rule->example, rule->tier == Tier::core ? "core" : "all", rule->code);
}

}  // namespace dtj::lint
