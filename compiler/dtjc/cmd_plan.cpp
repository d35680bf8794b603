#include <memory>

#include <fmt/format.h>

#include "commands.hpp"

namespace dtjc {

namespace {

struct Arguments {
  JobArguments job;
  Format format = Format::text;
  std::string output;
};

int plan(const Arguments& arguments) {
  const auto compilation =
      dtj::Compilation::from_file(arguments.job.path, dtj::Compilation::Stage::plan, arguments.job.options());
  if (!compilation.ok() && !has_errors(compilation) && !compilation.is_internal_error()) {
    print_diagnostics(compilation, Format::text);
    return report_obstacles(compilation, "plan");
  }
  if (const ExitCode code = compile_job(compilation); code != exit_ok) return code;
  if (!arguments.output.empty()) {
    if (const auto failure = compilation.save_plan(arguments.output)) {
      fmt::print(stderr, "dtjc plan: {}\n", failure->message);
      return exit_unfit;
    }
  }
  fmt::print("{}\n", arguments.format == Format::json ? compilation.plan_json() : compilation.plan_text());
  return exit_ok;
}

}  // namespace

void add_plan(CLI::App& app, int& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("plan", "show what a job will use and do: memory, collectives, steps");
  arguments->job.add_to(*command);
  add_format(*command, arguments->format);
  command->add_option("-o,--output", arguments->output, "also write the whole plan to this file")->type_name("FILE");
  command->callback([arguments, &code] { code = plan(*arguments); });
}

}  // namespace dtjc
