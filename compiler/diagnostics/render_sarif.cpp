#include <nlohmann/json.hpp>

#include <map>

#include "compiler/diagnostics/character.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/explain.hpp"
#include "compiler/diagnostics/severity.hpp"

// SARIF 2.1.0 (OASIS, 2020): what code-scanning services read.

namespace dtj::diag {
namespace {

using Json = nlohmann::ordered_json;

/// A path as a URI reference: what is no plain path character is escaped.
std::string uri_of(std::string_view path) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string uri = path.empty() || path.front() != '/' ? std::string() : "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("/-._~").find(c) != std::string_view::npos;
    if (is_plain) {
      uri += c;
    } else {
      uri += '%';
      uri += digits[byte >> 4];
      uri += digits[byte & 15u];
    }
  }
  return uri;
}

Json artifact(source::Range range, const source::SourceManager& sources) {
  return {{"uri", uri_of(sources.file(range.file).name())}};
}

Json region(source::Range range, const source::SourceManager& sources) {
  const source::SourceFile& file = sources.file(range.file);
  const CharacterPosition begin = character_position(file, range.begin);
  const CharacterPosition end = character_position(file, range.end);
  return {{"startLine", begin.line},
          {"startColumn", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column},
          {"byteOffset", range.begin},
          {"byteLength", range.end - range.begin}};
}

Json location(source::Range range, const std::string& message, const source::SourceManager& sources) {
  Json object = {
      {"physicalLocation", {{"artifactLocation", artifact(range, sources)}, {"region", region(range, sources)}}}};
  if (!message.empty()) object["message"] = {{"text", message}};
  return object;
}

Json rule(const KindInfo& kind) {
  Json object = {{"id", kind.code},
                 {"name", kind.name},
                 {"shortDescription", {{"text", kind.summary}}},
                 {"defaultConfiguration", {{"level", to_string(kind.severity)}}}};
  if (const Explanation* explanation = find_explanation(kind.code)) {
    object["fullDescription"] = {{"text", explanation->what}};
    object["help"] = {{"text", render_explanation(*explanation)}};
  }
  return object;
}

Json fixes(const Diagnostic& diagnostic, const source::SourceManager& sources) {
  // One change per file: the fixes of a diagnostic belong together.
  std::map<std::uint32_t, Json> changes;
  for (const Fix& fix : diagnostic.fixes) {
    Json& change = changes[fix.range.file.value];
    if (change.is_null()) change = {{"artifactLocation", artifact(fix.range, sources)}, {"replacements", Json::array()}};
    change["replacements"].push_back(
        {{"deletedRegion", region(fix.range, sources)}, {"insertedContent", {{"text", fix.text}}}});
  }
  Json fix = {{"artifactChanges", Json::array()}};
  if (!diagnostic.helps.empty()) fix["description"] = {{"text", diagnostic.helps.back()}};
  for (auto& [file, change] : changes) fix["artifactChanges"].push_back(std::move(change));
  return Json::array({std::move(fix)});
}

Json result(const Diagnostic& diagnostic, std::size_t rule_index, const source::SourceManager& sources) {
  const KindInfo& kind = info(diagnostic.kind);
  std::string message = diagnostic.message;
  for (const std::string& note : diagnostic.notes) message += "\nnote: " + note;
  for (const std::string& help : diagnostic.helps) message += "\nhelp: " + help;
  Json object = {{"ruleId", kind.code},
                 {"ruleIndex", rule_index},
                 {"level", to_string(kind.severity)},
                 {"message", {{"text", message}}},
                 {"locations", Json::array()}};
  if (!diagnostic.range.is_none) {
    object["locations"].push_back(location(diagnostic.range, diagnostic.range_label, sources));
  }
  Json related = Json::array();
  for (const Label& label : diagnostic.labels) {
    if (label.range.is_none) continue;
    Json place = location(label.range, label.text, sources);
    place["id"] = related.size() + 1;
    related.push_back(std::move(place));
  }
  if (!related.empty()) object["relatedLocations"] = std::move(related);
  if (!diagnostic.fixes.empty()) object["fixes"] = fixes(diagnostic, sources);
  return object;
}

}  // namespace

std::string render_sarif(const std::vector<Report>& reports, std::string_view tool_version,
                         const std::vector<std::string>& failures) {
  std::map<Kind, std::size_t> rule_indices;
  Json rules = Json::array();
  Json results = Json::array();
  for (const Report& report : reports) {
    for (const Diagnostic& diagnostic : *report.diagnostics) {
      const auto [entry, is_new] = rule_indices.emplace(diagnostic.kind, rules.size());
      if (is_new) rules.push_back(rule(info(diagnostic.kind)));
      results.push_back(result(diagnostic, entry->second, *report.sources));
    }
  }
  Json invocation = {{"executionSuccessful", failures.empty()}};
  for (const std::string& failure : failures) {
    invocation["toolExecutionNotifications"].push_back({{"level", "error"}, {"message", {{"text", failure}}}});
  }
  const Json driver = {{"name", "dtjc"}, {"semanticVersion", tool_version}, {"rules", std::move(rules)}};
  const Json run = {{"tool", {{"driver", driver}}},
                    {"invocations", Json::array({std::move(invocation)})},
                    {"columnKind", "unicodeCodePoints"},
                    {"results", std::move(results)}};
  const Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                         {"version", "2.1.0"},
                         {"runs", Json::array({run})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dtj::diag
