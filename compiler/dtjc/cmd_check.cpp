#include <memory>

#include <fmt/format.h>

#include "commands.hpp"

namespace dtjc {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  JobArguments job;
  Format format = Format::text;
};

int check(const Arguments& arguments) {
  int code = exit_ok;
  for (const std::string& path : arguments.paths) {
    const auto compilation = dtj::Compilation::from_file(path, dtj::Compilation::Stage::check, arguments.job.options());
    print_diagnostics(compilation, arguments.format);
    if (!compilation.ok()) {
      code = exit_diagnostics;
    } else if (arguments.format == Format::text) {
      fmt::print(stderr, "{}: ok\n", path);
    }
  }
  return code;
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("check", "report every mistake of job files");
  command->add_option("files", arguments->paths, ".dtj files")->required()->type_name("FILE");
  arguments->job.add_options_to(*command);
  add_format(*command, arguments->format);
  command->callback([arguments, &code] { code = check(*arguments); });
}

}  // namespace dtjc
