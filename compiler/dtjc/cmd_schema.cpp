#include <fmt/format.h>

#include "commands.hpp"
#include "dtj/tools.hpp"

namespace dtjc {

void add_schema(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("schema", "print a JSON Schema of the sections of a job");
  command->callback([&code] {
    fmt::print("{}", dtj::sections_schema());
    code = exit_ok;
  });
}

}  // namespace dtjc
