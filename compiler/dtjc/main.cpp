#include <exception>

#include <fmt/format.h>

#include "commands.hpp"

int main(int argc, char** argv) {
  if (dtj::process_rank()) return dtjc::run_as_rank(argc, argv);

  CLI::App app{"dtjc: checks, plans and runs .dtj jobs", "dtjc"};
  app.set_version_flag("--version", std::string(dtj::version()));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int code = dtjc::exit_ok;
  dtjc::add_check(app, code);
  dtjc::add_plan(app, code);
  dtjc::add_lower(app, code);
  dtjc::add_run(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version arrive here too, with exit code 0.
    return app.exit(error) == 0 ? dtjc::exit_ok : dtjc::exit_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "dtjc: internal error: {}\n", error.what());
    return dtjc::exit_internal;
  }
  return code;
}
