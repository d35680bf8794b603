#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dtj::test {

/// A fenced piece of a document.
struct Snippet {
  std::string fence;  ///< what follows the three backticks
  std::string text;
  int line = 0;  ///< of the fence, 1-based
};

std::vector<Snippet> fenced_snippets(std::string_view markdown);

/// The first word of a fence: "dtj-job".
std::string tag_of(const std::string& fence);
/// The `--bind a=b` of a fence.
std::map<std::string, std::string> bindings_of(const std::string& fence);

/// The whole file that a snippet stands for. "dtj": itself. "dtj-top": declarations, after the edition. "dtj-job": parts
/// of a job, in place of the same parts of a small job that is right; declarations among them go before the job.
/// "dtj-body": statements of a function.
std::string complete_snippet(const std::string& tag, const std::string& text);

}  // namespace dtj::test
