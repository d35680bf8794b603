#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "check_lint.hpp"
#include "commands.hpp"
#include "dtj/tools.hpp"
#include "files.hpp"

namespace dtjc {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  JobArguments job;
  LintArguments lint;
};

/// Applies what can be mended without asking. An unreadable file is left to the check, which says why.
ExitCode fix(const std::string& path, const dtj::CompileOptions& options) {
  const auto text = read_file(path);
  if (!text) return exit_ok;
  const dtj::FixedText fixed = dtj::apply_fixes(path, *text, options);
  if (fixed.num_fixes == 0) return exit_ok;
  if (const auto failure = replace_file(path, fixed.text)) {
    fmt::print(stderr, "dtjc check: cannot write `{}`: {}\n", path, *failure);
    return exit_unfit;
  }
  fmt::print(stderr, "{}: {} {}\n", path, fixed.num_fixes, fixed.num_fixes == 1 ? "fix" : "fixes");
  return exit_ok;
}

/// A workflow command of GitHub for each diagnostic.
void print_github(const dtj::Compilation& compilation) {
  for (const dtj::DiagnosticInfo& each : compilation.diagnostics()) {
    const char* level = each.severity == dtj::DiagnosticSeverity::error ? "error" : each.severity == dtj::DiagnosticSeverity::warning ? "warning" : "notice";
    fmt::print("{}", dtj::lint::github_command(level, each.file, each.line, each.column, each.end_column, each.code, each.message));
  }
}

/// The full check of job files; SARIF waits for the lint, so that there is one document.
class JobChecks {
 public:
  explicit JobChecks(const Arguments& arguments) : arguments_(arguments) {}

  void check(const std::string& path) {
    const auto options = arguments_.job.options();
    if (arguments_.lint.fix && !arguments_.lint.dry_run) code_ = std::max<int>(code_, fix(path, options));
    compilations_.push_back(dtj::Compilation::from_file(path, dtj::Compilation::Stage::check, options));
    const dtj::Compilation& compilation = compilations_.back();
    const std::string& format = arguments_.lint.format;
    if (format == "github") print_github(compilation);
    if (format == "text" || format == "json") print_diagnostics(compilation, format == "json" ? Format::json : Format::text);
    if (compilation.is_internal_error()) {
      code_ = exit_internal;
    } else if (!compilation.ok()) {
      code_ = std::max<int>(code_, exit_diagnostics);
    } else if (format == "text") {
      fmt::print(stderr, "{}: ok\n", path);
    }
  }

  std::string sarif() const {
    if (compilations_.empty()) return {};
    std::vector<const dtj::Compilation*> pointers;
    for (const dtj::Compilation& compilation : compilations_) pointers.push_back(&compilation);
    return dtj::render_sarif(pointers);
  }
  int code() const { return code_; }

 private:
  const Arguments& arguments_;
  std::vector<dtj::Compilation> compilations_;
  int code_ = exit_ok;
};

/// A job, or something that cannot be read, about which the check of a job says more. A pipe holds a job.
bool is_job(const std::string& path) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  if (type == std::filesystem::file_type::directory) return false;
  return type != std::filesystem::file_type::regular || std::filesystem::path(path).extension() == ".dtj";
}

int check(const Arguments& arguments) {
  JobChecks jobs(arguments);
  std::vector<std::string> readable;
  for (const std::string& path : arguments.paths) {
    std::error_code ignored;
    if (is_job(path)) jobs.check(path);
    if (std::filesystem::is_regular_file(path, ignored) || std::filesystem::is_directory(path, ignored)) readable.push_back(path);
  }
  const bool has_lint = !arguments.lint.no_lint && (!readable.empty() || arguments.lint.has_source());
  LintResult lint;
  if (has_lint) lint = lint_paths(arguments.lint, readable);
  for (const std::string& path : lint.jobs_in_folders) jobs.check(path);
  if (arguments.lint.format == "sarif") fmt::print("{}", dtj::lint::join_sarif({jobs.sarif(), lint.sarif}));
  return std::max<int>(jobs.code(), lint.code);
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("check", "report every mistake of job files, and site details that leak from any file");
  command->add_option("paths", arguments->paths, ".dtj files, other text files, folders")->type_name("PATH");
  arguments->job.add_options_to(*command);
  command->add_option("--format", arguments->lint.format, "text, json (one object a line), sarif (2.1.0) or github")
      ->transform(CLI::IsMember({"text", "json", "sarif", "github"}, CLI::ignore_case))
      ->default_str("text");
  arguments->lint.add_to(*command);
  command->callback([arguments, &code] {
    if (arguments->paths.empty() && !arguments->lint.has_source()) throw CLI::RequiredError("PATH, --stdin, --staged or --diff");
    code = check(*arguments);
  });
}

}  // namespace dtjc
