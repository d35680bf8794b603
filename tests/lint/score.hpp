#pragma once

#include <map>
#include <string>
#include <vector>

#include "dtj/lint.hpp"

namespace dtj::lint_test {

/// One labelled span of the corpus. `kind` is a kind of the rules, "none" or "ambiguous".
struct Label {
  std::string file, kind, text;
  std::uint32_t line = 0, begin = 0, end = 0;  ///< 1-based bytes, end exclusive
  bool hit = false;
};

struct Score {
  std::size_t leaks = 0, hit = 0, false_findings = 0, clean_files = 0, clean_flagged = 0;
  std::vector<std::string> missed, wrong;  ///< one line each, for people
  double precision() const { return hit + false_findings == 0 ? 0 : static_cast<double>(hit) / static_cast<double>(hit + false_findings); }
  double recall() const { return leaks == 0 ? 0 : static_cast<double>(hit) / static_cast<double>(leaks); }
};

std::vector<Label> read_labels(const std::string& path);
/// The rules of the corpus: a finding hits a leak when they share a byte and most of the finding lies in labels; a
/// finding of `utilization` or `result` hits all such leaks of its line; what only touches ambiguous spans is ignored.
Score score(std::vector<Label> labels, const std::vector<lint::Finding>& findings, lint::Tier tier, const std::string& folder);

}  // namespace dtj::lint_test
