#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/finding.hpp"
#include "engine/base/result.hpp"

namespace re2 {
class RE2;
}

namespace dtj::lint {

/// [[allow]]: what may stand, and why.
struct Allow {
  std::string rule;   ///< code or name; "" = any
  std::string path;   ///< a glob; "" = any file
  std::string value;  ///< a regular expression for the whole value; "" = any
  std::string reason;
  std::shared_ptr<const re2::RE2> value_regex;
};

/// [[rule]]: a pattern of the house's own. Its first capture is the finding, or else the whole match.
struct OwnRule {
  std::string code, name, placeholder, message;
  std::shared_ptr<const re2::RE2> pattern;
};

/// What .dtjlint.toml says. The default: tier core, nothing allowed.
struct Config {
  Tier tier = Tier::core;
  std::string root;  ///< the folder of the file; globs start there
  std::vector<Allow> allows;
  std::vector<OwnRule> own_rules;
  std::map<std::string, std::string> severities;  ///< code or name -> "error", "warning", "note", "off"

  /// The reason why the finding may stand; "" when none does.
  std::string reason_for(const Finding& finding) const;
  /// Every finding of the file would be allowed: it need not be read.
  std::string reason_for_file(const std::string& file) const;
};

/// Reads a configuration; a mistake in it is an invalid_argument that names the line.
Result<Config> read_config(const std::string& path);
/// The nearest .dtjlint.toml in `folder` or above; "" when there is none.
std::string find_config(const std::string& folder);
/// `**` any folders, `*` any characters but `/`, `?` one of them.
bool matches_glob(std::string_view path, std::string_view glob);

}  // namespace dtj::lint
