#include "compiler/lint/config.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <re2/re2.h>
#include <toml++/toml.h>

#include "compiler/lint/text.hpp"

namespace dtj::lint {

namespace {

namespace fs = std::filesystem;

Error mistake(const std::string& path, const toml::source_region& where, std::string_view what) {
  return Error{ErrorCode::invalid_argument, fmt::format("{}:{}: {}", path, where.begin.line, what), {}};
}

std::string text_of(const toml::table& table, std::string_view key) { return table[key].value_or(std::string()); }

Result<std::shared_ptr<const re2::RE2>> compile(const std::string& path, const toml::table& table, const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  auto regex = std::make_shared<RE2>(pattern, options);
  if (!regex->ok()) return tl::unexpected(mistake(path, table.source(), fmt::format("`{}` is no regular expression: {}", pattern, regex->error())));
  return std::shared_ptr<const re2::RE2>(std::move(regex));
}

Status read_allow(const std::string& path, const toml::table& table, Config& config) {
  Allow allow{text_of(table, "rule"), text_of(table, "path"), text_of(table, "value"), text_of(table, "reason"), nullptr};
  if (allow.reason.empty()) return tl::unexpected(mistake(path, table.source(), "an [[allow]] needs a `reason`"));
  if (allow.rule.empty() && allow.path.empty() && allow.value.empty()) {
    return tl::unexpected(mistake(path, table.source(), "an [[allow]] needs a `rule`, a `path` or a `value`"));
  }
  if (!allow.value.empty()) {
    DTJ_TRY_ASSIGN(allow.value_regex, compile(path, table, allow.value));
  }
  config.allows.push_back(std::move(allow));
  return {};
}

Status read_rule(const std::string& path, const toml::table& table, Config& config) {
  OwnRule rule{text_of(table, "code"), text_of(table, "name"), text_of(table, "placeholder"), text_of(table, "message"), nullptr};
  const std::string pattern = text_of(table, "pattern");
  if (rule.code.empty() || pattern.empty()) return tl::unexpected(mistake(path, table.source(), "a [[rule]] needs a `code` and a `pattern`"));
  if (find_rule(rule.code) != nullptr) return tl::unexpected(mistake(path, table.source(), fmt::format("`{}` is a rule of dtjc itself", rule.code)));
  if (rule.name.empty()) rule.name = "other";
  if (rule.placeholder.empty()) rule.placeholder = "SITE";
  if (rule.message.empty()) rule.message = "a detail of one site is written out";
  DTJ_TRY_ASSIGN(rule.pattern, compile(path, table, pattern));
  config.own_rules.push_back(std::move(rule));
  return {};
}

Status read_tables(const std::string& path, const toml::table& root, const char* key, Config& config,
                   Status (*read)(const std::string&, const toml::table&, Config&)) {
  const auto* list = root[key].as_array();
  if (list == nullptr) return {};
  for (const auto& entry : *list) {
    const auto* table = entry.as_table();
    if (table == nullptr) return tl::unexpected(mistake(path, entry.source(), fmt::format("write [[{}]] tables", key)));
    DTJ_TRY(read(path, *table, config));
  }
  return {};
}

Status read_root(const std::string& path, const toml::table& root, Config& config) {
  for (const auto& [key, value] : root) {
    if (key == "tier" || key == "allow" || key == "rule" || key == "severity") continue;
    return tl::unexpected(mistake(path, value.source(), fmt::format("there is no key `{}`; there is tier, allow, rule, severity", key.str())));
  }
  const std::string tier = root["tier"].value_or(std::string("core"));
  if (tier != "core" && tier != "all") return tl::unexpected(mistake(path, root["tier"].node()->source(), "the tier is \"core\" or \"all\""));
  config.tier = tier == "all" ? Tier::all : Tier::core;
  if (const auto* severities = root["severity"].as_table()) {
    for (const auto& [rule, value] : *severities) {
      const std::string level = value.value_or(std::string());
      if (level != "error" && level != "warning" && level != "note" && level != "off") {
        return tl::unexpected(mistake(path, value.source(), "a severity is \"error\", \"warning\", \"note\" or \"off\""));
      }
      config.severities[std::string(rule.str())] = level;
    }
  }
  DTJ_TRY(read_tables(path, root, "allow", config, read_allow));
  return read_tables(path, root, "rule", config, read_rule);
}

/// The file as globs see it: relative to the folder of the configuration.
std::string relative_to(const std::string& file, const std::string& root) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(file, ignored);
  const fs::path relative = path.lexically_relative(root.empty() ? fs::current_path(ignored) : fs::path(root));
  return relative.empty() ? file : relative.generic_string();
}

bool names_rule(const std::string& wanted, const Finding& finding) { return wanted == finding.code || wanted == finding.kind || wanted == "all"; }

}  // namespace

bool matches_glob(std::string_view path, std::string_view glob) {
  // The usual walk with one point of return for `*` and one for `**`.
  std::size_t p = 0, g = 0, star_p = 0, star_g = std::string_view::npos;
  bool star_is_deep = false;
  while (p < path.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star_is_deep = g + 1 < glob.size() && glob[g + 1] == '*';
      g += star_is_deep ? 2 : 1;
      if (star_is_deep && g < glob.size() && glob[g] == '/') ++g;
      star_g = g;
      star_p = p;
    } else if (g < glob.size() && (glob[g] == path[p] || (glob[g] == '?' && path[p] != '/'))) {
      ++p;
      ++g;
    } else if (star_g != std::string_view::npos && (star_is_deep || path[star_p] != '/')) {
      p = ++star_p;
      g = star_g;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

std::string Config::reason_for(const Finding& finding) const {
  for (const Allow& allow : allows) {
    if (!allow.rule.empty() && !names_rule(allow.rule, finding)) continue;
    if (allow.value_regex != nullptr && !RE2::FullMatch(re2::StringPiece(finding.value.data(), finding.value.size()), *allow.value_regex)) continue;
    if (!allow.path.empty() && !matches_glob(relative_to(finding.file, root), allow.path)) continue;
    return allow.reason;
  }
  return {};
}

std::string Config::reason_for_file(const std::string& file) const {
  for (const Allow& allow : allows) {
    if (allow.rule.empty() && allow.value.empty() && matches_glob(relative_to(file, root), allow.path)) return allow.reason;
  }
  return {};
}

Result<Config> read_config(const std::string& path) {
  Config config;
  std::error_code ignored;
  config.root = fs::weakly_canonical(path, ignored).parent_path().string();
  try {
    const toml::table root = toml::parse_file(path);
    DTJ_TRY(read_root(path, root, config));
  } catch (const toml::parse_error& error) {
    return tl::unexpected(mistake(path, error.source(), error.description()));
  }
  return config;
}

std::string find_config(const std::string& folder) {
  std::error_code ignored;
  for (fs::path at = fs::weakly_canonical(folder, ignored); !at.empty(); at = at.parent_path()) {
    const fs::path file = at / ".dtjlint.toml";
    if (fs::exists(file, ignored)) return file.string();
    if (at == at.parent_path()) break;
  }
  return {};
}

}  // namespace dtj::lint
