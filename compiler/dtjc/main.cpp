#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "commands.hpp"

namespace {

/// Without the three standard streams the next file opened would take their numbers, and messages would end up in it.
/// What cannot be opened stays closed: there is nobody to tell.
void open_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

/// Messages about failed prints must not fail in turn: standard error may be on a full disk, too.
void complain(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

/// The command line names a command that does not exist: says which there are.
bool report_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool is_known = std::any_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->check_name(argv[1]); });
  if (is_known) return false;
  std::string names;
  for (const CLI::App* command : commands) names += (names.empty() ? "" : ", ") + command->get_name();
  fmt::print(stderr, "dtjc: there is no command `{}`; there is {}\n", argv[1], names);
  return true;
}

/// What was printed may still be in a buffer: a full disk shows here. A reader that left early is no error.
int finish_output(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE || errno == EBADF) return code;
  complain(fmt::format("dtjc: cannot write to the standard output: {}\n", std::strerror(errno)));
  return code == dtjc::exit_ok ? dtjc::exit_unfit : code;
}

int run_command(int argc, char** argv) {
  CLI::App app{"dtjc: checks, plans and runs .dtj jobs", "dtjc"};
  app.set_version_flag("--version", std::string(dtj::version()));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int code = dtjc::exit_ok;
  dtjc::add_check(app, code);
  dtjc::add_plan(app, code);
  dtjc::add_lower(app, code);
  dtjc::add_run(app, code);
  dtjc::add_explain(app, code);
  dtjc::add_fmt(app, code);
  dtjc::add_lsp(app, code);
  dtjc::add_schema(app, code);
  dtjc::add_completion(app, code);
  if (report_unknown_command(app, argc, argv)) return dtjc::exit_usage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version arrive here too, with exit code 0.
    if (app.exit(error) != 0) return dtjc::exit_usage;
  }
  return finish_output(code);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    return dtj::process_rank() ? dtjc::run_as_rank(argc, argv) : run_command(argc, argv);
  } catch (const std::system_error& error) {  // of a print
    complain(fmt::format("dtjc: {}\n", error.what()));
    return dtjc::exit_unfit;
  } catch (const std::exception& error) {
    complain(fmt::format("dtjc: internal error: {}\n", error.what()));
    return dtjc::exit_internal;
  }
}
