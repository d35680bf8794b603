#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "dtj/dtj.hpp"
#include "exit_code.hpp"

namespace dtjc {

/// Every command adds itself to the command line and stores its exit code when it ran.
void add_check(CLI::App& app, int& code);
void add_completion(CLI::App& app, int& code);
void add_explain(CLI::App& app, int& code);
void add_fmt(CLI::App& app, int& code);
void add_lsp(CLI::App& app, int& code);
void add_plan(CLI::App& app, int& code);
void add_lower(CLI::App& app, int& code);
void add_run(CLI::App& app, int& code);
void add_schema(CLI::App& app, int& code);

/// The body of a rank process, which `dtjc run` starts itself.
int run_as_rank(int argc, char** argv);

/// What every command that reads one job takes.
struct JobArguments {
  std::string path;
  std::vector<std::string> bindings;  ///< name=value
  std::string job;
  std::vector<std::string> import_dirs;
  std::string site_profile, site;

  void add_to(CLI::App& command);
  /// All but the file: --bind, --job, --site, --site-name, --import-dir.
  void add_options_to(CLI::App& command);
  dtj::CompileOptions options() const;
};

enum class Format { text, json, sarif };
void add_format(CLI::App& command, Format& format);
/// Text, JSON and SARIF: for commands that report diagnostics.
void add_report_format(CLI::App& command, Format& format);

/// Whether stderr is a terminal that wants colours.
bool use_colour();

/// Prints what the compilation has to say: text to stderr, or JSON lines to stdout.
void print_diagnostics(const dtj::Compilation& compilation, Format format);

/// Says what keeps a job without mistakes from `verb`: placeholders without a value, settings that this edition does not
/// carry out.
ExitCode report_obstacles(const dtj::Compilation& compilation, std::string_view verb);
bool has_errors(const dtj::Compilation& compilation);

/// Compiles; prints diagnostics when there are any (always to stderr). exit_ok: `ok()`.
ExitCode compile_job(const dtj::Compilation& compilation);

}  // namespace dtjc
