#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/lint/lint.hpp"

// Reports: text for people, JSON lines for programs, SARIF for code hosts, GitHub's workflow commands.

namespace dtj::lint {

namespace {

using Json = nlohmann::ordered_json;

std::string_view level_of(DiagnosticSeverity severity) {
  switch (severity) {
    case DiagnosticSeverity::error: return "error";
    case DiagnosticSeverity::warning: return "warning";
    case DiagnosticSeverity::note: return "note";
  }
  return "error";
}

/// Any bytes as JSON text: what is no UTF-8 is replaced.
std::string dump(const Json& json, int indent = -1) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

bool is_shown(const Finding& finding, const RenderOptions& options) {
  return finding.suppressed.empty() || (options.show_suppressed && finding.suppressed != "fixed");
}

std::string text_line(const Finding& finding, const RenderOptions& options) {
  std::string out = fmt::format("{}:{}:{}: {}[{}]: {}\n", finding.file, finding.line, finding.column, level_of(finding.severity), finding.code, finding.message);
  out += options.redact ? fmt::format("  = {}, {} bytes; write {}\n", finding.kind, finding.value.size(), finding.placeholder)
                        : fmt::format("  = {} `{}`; write {}\n", finding.kind, finding.value, finding.placeholder);
  if (!finding.suppressed.empty()) out += fmt::format("  = allowed: {}\n", finding.suppressed);
  return out;
}

/// A text that most often needs no care, in quotes.
std::string json_text(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  return std::all_of(text.begin(), text.end(), is_plain) ? fmt::format("\"{}\"", text) : dump(Json(text));
}

std::string json_line(const Finding& finding, const RenderOptions& options) {
  std::string out = fmt::format(R"({{"file":{},"line":{},"col":{},"end_col":{},"kind":{},"rule":{},"severity":"{}","message":{},"placeholder":{},"fingerprint":"{}")",
                                json_text(finding.file), finding.line, finding.column, finding.end_column, json_text(finding.kind), json_text(finding.code),
                                level_of(finding.severity), json_text(finding.message), json_text(finding.placeholder), finding.fingerprint);
  if (!options.redact) out += fmt::format(R"(,"value":{})", json_text(finding.value));
  if (!finding.suppressed.empty()) out += fmt::format(R"(,"suppressed":{})", json_text(finding.suppressed));
  return out + "}\n";
}

Json sarif_result(const Finding& finding) {
  Json region = {{"startLine", finding.line}, {"startColumn", finding.column}, {"endColumn", finding.end_column}};
  Json result = {{"ruleId", finding.code},
                 {"level", level_of(finding.severity)},
                 {"message", {{"text", fmt::format("{}; write {}", finding.message, finding.placeholder)}}},
                 {"locations", Json::array({{{"physicalLocation", {{"artifactLocation", {{"uri", finding.file}}}, {"region", region}}}}})},
                 {"partialFingerprints", {{"dtjLint/v1", finding.fingerprint}}}};
  if (!finding.suppressed.empty()) result["suppressions"] = Json::array({{{"kind", "inSource"}, {"justification", finding.suppressed}}});
  return result;
}

std::string sarif(const Report& report, const RenderOptions& options) {
  Json rule_list = Json::array();
  for (const RuleInfo& rule : rules()) {
    rule_list.push_back({{"id", rule.code},
                         {"name", rule.name},
                         {"shortDescription", {{"text", rule.summary}}},
                         {"fullDescription", {{"text", rule.why}}},
                         {"help", {{"text", fmt::format("Write instead: {}", rule.example)}}},
                         {"properties", {{"tier", rule.tier == Tier::core ? "core" : "all"}}}});
  }
  Json results = Json::array();
  for (const Finding& finding : report.findings) {
    if (is_shown(finding, options)) results.push_back(sarif_result(finding));
  }
  const Json driver = {{"name", "dtjc"}, {"version", DTJ_VERSION}, {"rules", rule_list}};
  const Json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}}, 1) + "\n";
}

/// What GitHub's commands cannot hold as it is.
std::string escape(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','))) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string github_line(const Finding& finding) {
  const std::string_view command = finding.severity == DiagnosticSeverity::note ? "notice" : level_of(finding.severity);
  return github_command(command, finding.file, finding.line, finding.column, finding.end_column, fmt::format("{} {}", finding.code, finding.kind),
                        fmt::format("{}; write {}", finding.message, finding.placeholder));
}

}  // namespace

std::string render(const Report& report, const RenderOptions& options) {
  if (options.format == RenderOptions::Format::sarif) return sarif(report, options);
  std::string out;
  for (const Finding& finding : report.findings) out += render(finding, options);
  return out;
}

std::string render(const Finding& finding, const RenderOptions& options) {
  if (!is_shown(finding, options)) return {};
  switch (options.format) {
    case RenderOptions::Format::text: return text_line(finding, options);
    case RenderOptions::Format::json: return json_line(finding, options);
    case RenderOptions::Format::github: return github_line(finding);
    case RenderOptions::Format::sarif: break;
  }
  return {};
}

std::string render_baseline(const Finding& finding) {
  return finding.suppressed.empty() ? fmt::format("{} {} {}\n", finding.fingerprint, finding.code, finding.file) : std::string();
}

std::string github_command(std::string_view level, std::string_view file, std::int64_t line, std::int64_t column, std::int64_t end_column,
                           std::string_view title, std::string_view message) {
  return fmt::format("::{} file={},line={},col={},endColumn={},title={}::{}\n", level, escape(file, true), line, column, end_column,
                     escape(title, true), escape(message, false));
}

std::string join_sarif(const std::vector<std::string>& documents) {
  Json joined;
  for (const std::string& document : documents) {
    if (document.empty()) continue;
    Json next = Json::parse(document, nullptr, false);
    if (next.is_discarded()) continue;
    if (joined.is_null()) {
      joined = std::move(next);
    } else {
      for (Json& run : next["runs"]) joined["runs"].push_back(std::move(run));
    }
  }
  if (joined.is_null()) joined = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array()}};
  return dump(joined, 1) + "\n";
}

std::string baseline_head() { return "# Findings that are known: fingerprint, rule, file. The values are not in here.\n"; }

}  // namespace dtj::lint
