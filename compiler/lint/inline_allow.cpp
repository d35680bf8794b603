#include "compiler/lint/inline_allow.hpp"

#include "compiler/lint/text.hpp"

namespace dtj::lint {

std::vector<InlineAllow> read_inline_allow(std::string_view text, std::uint32_t line) {
  constexpr std::string_view mark = "dtj:allow";
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = trim_front(text.substr(at + mark.size()), " \t");
  const auto space = find_any(rest, " \t");
  if (space == std::string_view::npos) return {};
  const std::string_view reason = trim(rest.substr(space), " \t\r*/->");
  if (reason.empty()) return {};
  InlineAllow allow;
  for_each_piece(rest.substr(0, space), ",", [&](std::string_view rule) { allow.rules.emplace_back(rule); });
  allow.reason = std::string(reason);
  const std::string_view head = trim(text.substr(0, at), " \t#/;*<!-%");
  allow.line = head.empty() ? line + 1 : line;
  return {allow};
}

std::string reason_for(const std::vector<InlineAllow>& allows, const Finding& finding) {
  for (const InlineAllow& allow : allows) {
    if (allow.line != finding.line) continue;
    for (const std::string& rule : allow.rules) {
      if (rule == finding.code || rule == finding.kind || rule == "all") return allow.reason;
    }
  }
  return {};
}

}  // namespace dtj::lint
