#include "commands.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

namespace dtjc {

bool use_colour() { return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// $DTJ_SITE, or dtj/site.toml in the user's configuration folder if it is there; "" = none.
std::string find_site_profile() {
  if (const std::string named = variable("DTJ_SITE"); !named.empty()) return named;
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.config";
  if (folder.empty()) return {};
  const std::string path = folder + "/dtj/site.toml";
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? path : std::string();
}

// CLI11 calls it for every --bind; a non-empty answer is the error.
std::string check_binding(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return "write --bind name=value, not `" + text + "`";
  return {};
}

}  // namespace

void JobArguments::add_to(CLI::App& command) {
  command.add_option("job_file", path, "a .dtj file")->required()->type_name("FILE");
  add_options_to(command);
}

void JobArguments::add_options_to(CLI::App& command) {
  command.add_option("--bind", bindings, "value of a placeholder, name=value; may be repeated")
      ->check(CLI::Validator(check_binding, "name=value", "binding"))
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--job", job, "which job of the file, when it holds several")->type_name("NAME");
  command.add_option("--site", site_profile, "values of placeholders; else $DTJ_SITE, else dtj/site.toml in the configuration folder")->type_name("FILE");
  command.add_option("--site-name", site, "one of the profile's sites, when it has several")->type_name("NAME");
  command.add_option("--import-dir", import_dirs, "a folder that imports may read beside the job's own; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("DIR");
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
  options.import_dirs = import_dirs;
  options.site_profile = site_profile.empty() ? find_site_profile() : site_profile;
  options.site = site;
  return options;
}

namespace {

void add_format_of(CLI::App& command, Format& format, const std::map<std::string, Format>& formats, const std::string& help) {
  command
      .add_option_function<std::string>(
          "--format", [&format, formats](const std::string& name) { format = formats.at(name); }, help)
      ->transform(CLI::IsMember(formats, CLI::ignore_case))
      ->default_str("text");
}

}  // namespace

void add_format(CLI::App& command, Format& format) {
  add_format_of(command, format, {{"text", Format::text}, {"json", Format::json}}, "text or json");
}

void add_report_format(CLI::App& command, Format& format) {
  add_format_of(command, format, {{"text", Format::text}, {"json", Format::json}, {"sarif", Format::sarif}},
                "text, json (rustc's shape, one object a line) or sarif (2.1.0)");
}

void print_diagnostics(const dtj::Compilation& compilation, Format format) {
  if (compilation.diagnostics().empty()) return;
  if (format == Format::json) {
    std::fputs(compilation.render_json().c_str(), stdout);
  } else {
    std::fputs(compilation.render_text(use_colour()).c_str(), stderr);
  }
}

bool has_errors(const dtj::Compilation& compilation) {
  const auto& all = compilation.diagnostics();
  return std::any_of(all.begin(), all.end(), [](const dtj::DiagnosticInfo& each) { return each.severity == dtj::DiagnosticSeverity::error; });
}

ExitCode report_obstacles(const dtj::Compilation& compilation, std::string_view verb) {
  ExitCode code = exit_ok;
  for (const auto& placeholder : compilation.placeholders()) {
    if (placeholder.value) continue;
    fmt::print(stderr, "dtjc {}: <{}> has no value: add --bind {}=... ({}{})\n", verb, placeholder.name, placeholder.name, placeholder.type,
               placeholder.help.empty() ? "" : ": " + placeholder.help);
    code = exit_unbound;
  }
  if (code != exit_ok) return code;
  for (const std::string& limit : compilation.limits()) {
    fmt::print(stderr, "dtjc {}: the job cannot run yet: {}\n", verb, limit);
    code = exit_unfit;
  }
  return code;
}

ExitCode compile_job(const dtj::Compilation& compilation) {
  print_diagnostics(compilation, Format::text);
  if (compilation.is_internal_error()) return exit_internal;
  return compilation.ok() ? exit_ok : exit_diagnostics;
}

}  // namespace dtjc
