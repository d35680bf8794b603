#include "tests/lint/score.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dtj::lint_test {

namespace {

bool is_extra(const std::string& kind) { return kind == "utilization" || kind == "result" || kind == "job_id" || kind == "other"; }
bool is_line_kind(const std::string& kind) { return kind == "utilization" || kind == "result"; }

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

enum class Role { leak, none, ambiguous };

Role role_of(const Label& label, lint::Tier tier) {
  if (label.kind == "none") return Role::none;
  if (label.kind == "ambiguous" || (tier == lint::Tier::core && is_extra(label.kind))) return Role::ambiguous;
  return Role::leak;
}

std::string line_of(const std::string& path, std::uint32_t line) {
  std::ifstream input(path, std::ios::binary);
  std::string text;
  for (std::uint32_t i = 0; i < line && std::getline(input, text); ++i) {
  }
  return text;
}

}  // namespace

std::vector<Label> read_labels(const std::string& path) {
  std::vector<Label> out;
  std::ifstream input(path);
  for (std::string line; std::getline(input, line);) {
    const auto json = nlohmann::json::parse(line);
    out.push_back({json.at("file"), json.at("kind"), json.at("text"), json.at("line"), json.at("col_start"), json.at("col_end"), false});
  }
  return out;
}

Score score(std::vector<Label> labels, const std::vector<lint::Finding>& findings, lint::Tier tier, const std::string& folder) {
  Score out;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Label*>> here;
  std::map<std::string, bool> is_leaky;
  for (Label& label : labels) {
    here[{label.file, label.line}].push_back(&label);
    const bool is_leak = role_of(label, tier) == Role::leak;
    is_leaky[label.file] = is_leaky[label.file] || is_leak || is_extra(label.kind);
  }
  std::set<std::string> flagged;
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  for (const lint::Finding& finding : findings) {
    const std::string name = name_of(finding.file);
    if (!finding.suppressed.empty() || (tier == lint::Tier::core && is_extra(finding.kind))) continue;
    if (!seen.insert({name, finding.line, finding.column, finding.end_column}).second) continue;
    const auto& candidates = here[{name, finding.line}];
    std::vector<Label*> over, good;
    for (Label* label : candidates) {
      if (label->begin < finding.end_column && finding.column < label->end) over.push_back(label);
    }
    std::copy_if(over.begin(), over.end(), std::back_inserter(good), [&](Label* l) { return role_of(*l, tier) != Role::none; });
    const std::string row = line_of((std::filesystem::path(folder) / name).string(), finding.line);
    std::size_t covered = 0, total = 0;
    for (std::uint32_t i = finding.column; i < finding.end_column; ++i) {
      if (i - 1 >= row.size() || row[i - 1] == ' ' || row[i - 1] == '\t') continue;
      ++total;
      covered += std::any_of(good.begin(), good.end(), [&](Label* l) { return l->begin <= i && i < l->end; }) ? 1 : 0;
    }
    std::vector<Label*> hits;
    for (Label* label : candidates) {
      const bool is_over = std::find(over.begin(), over.end(), label) != over.end();
      const bool by_span = is_over && total > 0 && 10 * covered >= 4 * total;
      if (role_of(*label, tier) == Role::leak && (by_span || (is_line_kind(finding.kind) && label->kind == finding.kind))) hits.push_back(label);
    }
    for (Label* label : hits) label->hit = true;
    if (!hits.empty()) continue;
    const bool is_ambiguous = !good.empty() && good.size() == over.size() && std::all_of(good.begin(), good.end(), [&](Label* l) { return role_of(*l, tier) == Role::ambiguous; });
    if (is_ambiguous) continue;
    ++out.false_findings;
    flagged.insert(name);
    out.wrong.push_back(fmt::format("{}:{}: {} `{}`", name, finding.line, finding.kind, finding.value));
  }
  for (const Label& label : labels) {
    if (role_of(label, tier) != Role::leak) continue;
    ++out.leaks;
    out.hit += label.hit ? 1 : 0;
    if (!label.hit) out.missed.push_back(fmt::format("{}:{}: {} `{}`", label.file, label.line, label.kind, label.text));
  }
  for (const auto& [file, leaky] : is_leaky) {
    if (leaky) continue;
    ++out.clean_files;
    out.clean_flagged += flagged.count(file);
  }
  return out;
}

}  // namespace dtj::lint_test
