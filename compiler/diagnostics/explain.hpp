#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtj::diag {

/// A piece of a job. `fence` says what it is: "dtj" a whole file, "dtj-top" declarations without the edition, "dtj-job"
/// sections and settings of a job whose other parts do not matter, "toml" a site profile; options such as `--bind a=b` may
/// follow.
struct Example {
  std::string fence;
  std::string text;
};

/// What a code means. Written in explain/*.md: `## E101`, the text, `### Why`, `### Fails`, `### Passes`.
struct Explanation {
  std::string code;
  std::string what;
  std::string why;
  std::optional<Example> fails;   ///< gives this code and no other
  std::optional<Example> passes;  ///< gives neither this code nor an error
};

/// All that are written, in the order of their codes.
const std::vector<Explanation>& explanations();
/// "E101", in either case.
const Explanation* find_explanation(std::string_view code);
/// For a terminal: heading, what, why, and the examples set in.
std::string render_explanation(const Explanation& explanation);

}  // namespace dtj::diag
