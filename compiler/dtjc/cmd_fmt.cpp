#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "dtj/tools.hpp"
#include "files.hpp"

namespace dtjc {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  bool checks = false;
  bool diffs = false;
};

/// Says on stderr what is wrong with a source that cannot be formatted.
std::optional<std::string> format_text(const std::string& name, const std::string& text) {
  dtj::FormatResult result = dtj::format_source(name, text, use_colour());
  if (!result.text) fmt::print(stderr, "{}", result.diagnostics);
  return std::move(result.text);
}

int format_stdin(const Arguments& arguments) {
  const std::string before = read_stdin();
  const auto after = format_text("<stdin>", before);
  if (!after) return exit_diagnostics;
  if (arguments.diffs) fmt::print("{}", dtj::unified_diff("<stdin>", before, *after));
  if (arguments.checks || arguments.diffs) return *after == before ? exit_ok : exit_diagnostics;
  fmt::print("{}", *after);
  return exit_ok;
}

int format_file(const std::string& path, const Arguments& arguments) {
  const auto before = read_file(path);
  if (!before) {
    fmt::print(stderr, "dtjc fmt: cannot read `{}`\n", path);
    return exit_unfit;
  }
  const auto after = format_text(path, *before);
  if (!after) return exit_diagnostics;
  if (*after == *before) return exit_ok;
  if (arguments.diffs) fmt::print("{}", dtj::unified_diff(path, *before, *after));
  if (arguments.checks) fmt::print(stderr, "{}: not formatted\n", path);
  if (arguments.checks || arguments.diffs) return exit_diagnostics;
  if (const auto failure = replace_file(path, *after)) {
    fmt::print(stderr, "dtjc fmt: cannot write `{}`: {}\n", path, *failure);
    return exit_unfit;
  }
  return exit_ok;
}

int format_all(const Arguments& arguments) {
  int worst = exit_ok;
  for (const std::string& path : arguments.paths) {
    worst = std::max(worst, path == "-" ? format_stdin(arguments) : format_file(path, arguments));
  }
  return worst;
}

}  // namespace

void add_fmt(CLI::App& app, int& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("fmt", "give job files the usual indentation, spaces and line breaks");
  command->add_option("files", arguments->paths, ".dtj files; - reads stdin and writes stdout")->required()->type_name("FILE");
  command->add_flag("--check", arguments->checks, "write nothing; exit 1 if a file would change");
  command->add_flag("--diff", arguments->diffs, "write nothing; show what would change, and exit 1 if anything would");
  command->callback([arguments, &code] { code = format_all(*arguments); });
}

}  // namespace dtjc
