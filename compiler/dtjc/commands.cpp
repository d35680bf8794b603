#include "commands.hpp"

#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

namespace dtjc {

namespace {

bool use_colour() { return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

// CLI11 calls it for every --bind; a non-empty answer is the error.
std::string check_binding(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return "write --bind name=value, not `" + text + "`";
  return {};
}

}  // namespace

void JobArguments::add_to(CLI::App& command) {
  command.add_option("job_file", path, "a .dtj file")->required()->type_name("FILE");
  command.add_option("--bind", bindings, "value of a placeholder, name=value; may be repeated")
      ->check(CLI::Validator(check_binding, "name=value", "binding"))
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--job", job, "which job of the file, when it holds several")->type_name("NAME");
}

dtj::CompileOptions JobArguments::options() const {
  dtj::CompileOptions options;
  for (const std::string& binding : bindings) {
    const auto equals = binding.find('=');
    std::string name = binding.substr(0, equals);
    if (name.size() > 2 && name.front() == '<' && name.back() == '>') name = name.substr(1, name.size() - 2);
    if (!options.bindings.emplace(name, binding.substr(equals + 1)).second)
      throw CLI::ValidationError("--bind", "<" + name + "> is given twice");
  }
  options.job = job;
  return options;
}

void add_format(CLI::App& command, Format& format) {
  const std::map<std::string, Format> formats{{"text", Format::text}, {"json", Format::json}};
  command
      .add_option_function<std::string>(
          "--format", [&format, formats](const std::string& name) { format = formats.at(name); }, "text or json")
      ->transform(CLI::IsMember(formats, CLI::ignore_case))
      ->default_str("text");
}

void print_diagnostics(const dtj::Compilation& compilation, Format format) {
  if (compilation.diagnostics().empty()) return;
  if (format == Format::json) {
    std::fputs(compilation.render_json().c_str(), stdout);
  } else {
    std::fputs(compilation.render_text(use_colour()).c_str(), stderr);
  }
}

ExitCode compile_job(const dtj::Compilation& compilation) {
  print_diagnostics(compilation, Format::text);
  if (compilation.is_internal_error()) return exit_internal;
  return compilation.ok() ? exit_ok : exit_diagnostics;
}

}  // namespace dtjc
