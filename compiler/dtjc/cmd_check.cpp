#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "dtj/tools.hpp"
#include "files.hpp"

namespace dtjc {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  JobArguments job;
  Format format = Format::text;
  bool fixes = false;
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

int check(const Arguments& arguments) {
  int code = exit_ok;
  std::vector<dtj::Compilation> compilations;
  for (const std::string& path : arguments.paths) {
    if (arguments.fixes) {
      if (const ExitCode failed = fix(path, arguments.job.options()); failed != exit_ok) return failed;
    }
    compilations.push_back(dtj::Compilation::from_file(path, dtj::Compilation::Stage::check, arguments.job.options()));
    const dtj::Compilation& compilation = compilations.back();
    if (arguments.format != Format::sarif) print_diagnostics(compilation, arguments.format);
    if (!compilation.ok()) {
      code = exit_diagnostics;
    } else if (arguments.format == Format::text) {
      fmt::print(stderr, "{}: ok\n", path);
    }
  }
  if (arguments.format != Format::sarif) return code;
  std::vector<const dtj::Compilation*> pointers;
  for (const dtj::Compilation& compilation : compilations) pointers.push_back(&compilation);
  fmt::print("{}", dtj::render_sarif(pointers));
  return code;
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("check", "report every mistake of job files");
  command->add_option("files", arguments->paths, ".dtj files")->required()->type_name("FILE");
  arguments->job.add_options_to(*command);
  command->add_flag("--fix", arguments->fixes, "first mend in the files what needs no judgement");
  add_report_format(*command, arguments->format);
  command->callback([arguments, &code] { code = check(*arguments); });
}

}  // namespace dtjc
