#include "check_lint.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

namespace dtjc {

namespace {

using dtj::lint::RenderOptions;

/// In CI the log is public: the report must not repeat what it found.
bool is_redacted(const LintArguments& arguments) {
  if (arguments.no_redact) return false;
  const char* ci = std::getenv("CI");
  return arguments.redact || (ci != nullptr && *ci != '\0' && std::string_view(ci) != "false");
}

RenderOptions::Format format_of(const std::string& name) {
  if (name == "json") return RenderOptions::Format::json;
  if (name == "sarif") return RenderOptions::Format::sarif;
  if (name == "github") return RenderOptions::Format::github;
  return RenderOptions::Format::text;
}

dtj::lint::Request request_of(const LintArguments& arguments, const std::vector<std::string>& paths) {
  dtj::lint::Request request;
  request.paths = paths;
  if (arguments.from_stdin) {
    request.source = dtj::lint::Request::Source::text;
    request.text_name = arguments.stdin_name;
    request.text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (arguments.staged) {
    request.source = dtj::lint::Request::Source::staged;
  } else if (!arguments.diff_base.empty()) {
    request.source = dtj::lint::Request::Source::diff;
    request.diff_base = arguments.diff_base;
  }
  if (!arguments.tier.empty()) request.tier = arguments.tier == "all" ? dtj::lint::Tier::all : dtj::lint::Tier::core;
  request.config = arguments.config;
  request.baseline = arguments.baseline;
  request.fix = arguments.fix;
  request.dry_run = arguments.dry_run;
  request.profile = arguments.profile;
  return request;
}

/// How the report ends for people.
void print_summary(const dtj::lint::Report& report) {
  for (const std::string& note : report.notes) fmt::print(stderr, "{}\n", note);
  const std::size_t count = report.num_errors;
  if (count > 0) fmt::print(stderr, "{} leaked site {} in {} {}; `dtjc explain CODE` says more, `--fix` writes placeholders\n", count,
                            count == 1 ? "detail" : "details", report.num_files, report.num_files == 1 ? "file" : "files");
}

}  // namespace

void LintArguments::add_to(CLI::App& command) {
  command.add_option("--tier", tier, "core: what names a site, a person or a secret; all: also job numbers, live use, results")
      ->check(CLI::IsMember({"core", "all"}));
  command.add_flag("--stdin", from_stdin, "look at the standard input");
  command.add_option("--stdin-name", stdin_name, "the file name to judge it by")->type_name("NAME");
  command.add_flag("--staged", staged, "look at what is in the Git index");
  command.add_option("--diff", diff_base, "look at the lines that are added to this commit")->type_name("BASE");
  command.add_option("--config", config, "a .dtjlint.toml; default: the nearest one above")->type_name("FILE");
  command.add_option("--baseline", baseline, "findings that are known, by fingerprint")->type_name("FILE");
  command.add_option("--write-baseline", write_baseline, "write such a file and end well")->type_name("FILE");
  command.add_flag("--redact", redact, "keep the values out of the report (default when CI is set)");
  command.add_flag("--no-redact", no_redact, "show the values in CI too");
  command.add_flag("--fix", fix, "write placeholders into the files");
  command.add_flag("--dry-run", dry_run, "with --fix: say what would be written");
  command.add_option("--profile", profile, "with --fix: a private file for the values that were replaced")->type_name("FILE");
  command.add_flag("--show-suppressed", show_suppressed, "show what is allowed, and why");
  command.add_flag("--no-lint", no_lint, "only the full check of .dtj files");
}

LintResult lint_paths(const LintArguments& arguments, const std::vector<std::string>& paths) {
  LintResult result;
  RenderOptions options;
  options.format = format_of(arguments.format);
  options.redact = is_redacted(arguments);
  options.show_suppressed = arguments.show_suppressed;
  const bool is_sarif = options.format == RenderOptions::Format::sarif;
  FILE* output = options.format == RenderOptions::Format::text ? stderr : stdout;
  std::string baseline;
  dtj::lint::Request request = request_of(arguments, paths);
  // Findings are printed as they are made: a report may be longer than the memory.
  const auto print = [&](const dtj::lint::Finding& finding) {
    std::fputs(dtj::lint::render(finding, options).c_str(), output);
    if (!arguments.write_baseline.empty()) baseline += dtj::lint::render_baseline(finding);
  };
  if (!is_sarif) request.on_finding = print;
  const dtj::lint::Report report = dtj::lint::check(request);
  for (const dtj::lint::Finding& finding : report.findings) print(finding);
  if (report.failure) {
    fmt::print(stderr, "dtjc check: {}\n", report.failure->message);
    result.code = report.failure->code == "invalid_argument" ? exit_usage : exit_diagnostics;
    return result;
  }
  result.jobs_in_folders = report.jobs_in_folders;
  if (is_sarif) result.sarif = dtj::lint::render(report, options);
  print_summary(report);
  if (!arguments.write_baseline.empty()) {
    std::ofstream file(arguments.write_baseline, std::ios::binary);
    if (!(file << dtj::lint::baseline_head() << baseline).flush()) {
      fmt::print(stderr, "dtjc check: cannot write `{}`\n", arguments.write_baseline);
      result.code = exit_unfit;
    }
    return result;
  }
  if (report.num_errors > 0) result.code = exit_diagnostics;
  return result;
}

}  // namespace dtjc
