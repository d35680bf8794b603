#include <memory>

#include <fmt/format.h>

#include "commands.hpp"

namespace dtjc {

namespace {

struct Arguments {
  JobArguments job;
  std::string print_after;
  std::string stop_after;
};

int lower(const Arguments& arguments) {
  dtj::CompileOptions options = arguments.job.options();
  options.print_after = arguments.print_after;
  options.stop_after = arguments.stop_after;
  options.on_print = [](std::string_view stage, const std::string& text) { fmt::print("// {}\n{}\n", stage, text); };
  const auto compilation = dtj::Compilation::from_file(arguments.job.path, dtj::Compilation::Stage::lower, options);
  return compile_job(compilation);
}

}  // namespace

void add_lower(CLI::App& app, int& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("lower", "print the graph IR of a job between passes");
  arguments->job.add_to(*command);
  command->add_option("--print-after", arguments->print_after, "a pass name, `lower`, or `all`")
      ->default_val("lower")
      ->type_name("PASS");
  command->add_option("--stop-after", arguments->stop_after, "run no pass after this one")->type_name("PASS");
  command->callback([arguments, &code] { code = lower(*arguments); });
}

}  // namespace dtjc
