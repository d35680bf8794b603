#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/lint/finding.hpp"

namespace dtj::lint {

/// Gives every value its placeholder, the same one in all files of a run: <NODE>, <NODE_2>, ...
class Placeholders {
 public:
  /// The name without brackets.
  std::string name_for(const Finding& finding);
  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  std::map<std::pair<std::string, std::string>, std::string> names_;  ///< (placeholder, value) -> name
  std::map<std::string, int> counts_;
  std::map<std::string, std::string> values_;  ///< name -> value
};

/// Writes placeholders over the findings that nothing suppresses, in the form that the file's language takes:
/// <NAME>, ${SITE_NAME} in shell code, "<NAME>" for a bare number of JSON, TOML or a program.
std::string apply_placeholders(std::string_view text, const std::vector<Finding>& findings, Placeholders& placeholders);

/// `NAME = "value"` lines, for a site profile that is never published.
std::string render_profile(const Placeholders& placeholders);

}  // namespace dtj::lint
