#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "dtj/lint.hpp"
#include "exit_code.hpp"

namespace dtjc {

/// The part of `dtjc check` that looks for leaked site details.
struct LintArguments {
  std::string tier, format = "text", config, baseline, write_baseline, diff_base, profile, stdin_name = "stdin";
  bool from_stdin = false, staged = false, redact = false, no_redact = false, fix = false, dry_run = false, show_suppressed = false,
       no_lint = false;

  void add_to(CLI::App& command);
  /// What to look at was said without a path.
  bool has_source() const { return from_stdin || staged || !diff_base.empty(); }
};

struct LintResult {
  int code = 0;  ///< 0 nothing found, 1 findings, 64 a configuration or option that is wrong
  std::string sarif;                         ///< with that format: not printed yet
  std::vector<std::string> jobs_in_folders;  ///< .dtj files that were met in folders
};

/// Lints and prints.
LintResult lint_paths(const LintArguments& arguments, const std::vector<std::string>& paths);

}  // namespace dtjc
