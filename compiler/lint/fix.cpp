#include "compiler/lint/fix.hpp"

#include <fmt/format.h>

#include "compiler/lint/context.hpp"
#include "compiler/lint/text.hpp"

namespace dtj::lint {

namespace {

std::string_view line_of(std::string_view text, std::size_t at) {
  const auto newline = text.substr(0, at).rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return text.substr(begin, std::min(text.size(), text.find('\n', at)) - begin);
}

/// A `#` that starts a comment stands in front of `at`.
bool is_in_comment(std::string_view head) {
  char quote = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (quote != 0) {
      if (head[i] == quote) quote = 0;
    } else if (head[i] == '"' || head[i] == '\'') {
      quote = head[i];
    } else if (head[i] == '#' && (i == 0 || is_space(head[i - 1]))) {
      return true;
    }
  }
  return false;
}

bool is_in_quotes(std::string_view head) {
  char quote = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\\') {
      ++i;
    } else if (quote != 0) {
      if (head[i] == quote) quote = 0;
    } else if (head[i] == '"' || head[i] == '\'') {
      quote = head[i];
    }
  }
  return quote != 0;
}

enum class Form { bracket, variable, quoted };

Form form_for(Flavour flavour, std::string_view file, std::string_view head) {
  if (flavour == Flavour::shell) return is_in_comment(head) ? Form::bracket : Form::variable;
  const bool is_strict = ends_with(file, ".json") || ends_with(file, ".jsonl") || ends_with(file, ".toml") || ends_with(file, ".ipynb") || flavour == Flavour::code;
  if (is_strict && !is_in_quotes(head) && !is_in_comment(head)) return Form::quoted;
  return Form::bracket;
}

std::string write(Form form, const std::string& name) {
  switch (form) {
    case Form::bracket: return fmt::format("<{}>", name);
    case Form::variable: return fmt::format("${{SITE_{}}}", name);
    case Form::quoted: return fmt::format("\"<{}>\"", name);
  }
  return {};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string Placeholders::name_for(const Finding& finding) {
  const std::string base = finding.placeholder.size() > 2 ? finding.placeholder.substr(1, finding.placeholder.size() - 2) : "SITE";
  auto [it, is_new] = names_.try_emplace({base, finding.value});
  if (is_new) {
    const int count = ++counts_[base];
    it->second = count == 1 ? base : fmt::format("{}_{}", base, count);
    values_[it->second] = finding.value;
  }
  return it->second;
}

std::string apply_placeholders(std::string_view text, const std::vector<Finding>& findings, Placeholders& placeholders) {
  if (findings.empty()) return std::string(text);
  const std::string& file = findings.front().file;
  Flavour flavour = flavour_of(file);
  if (flavour == Flavour::text) flavour = flavour_of_text(text);
  std::string out;
  std::size_t at = 0;
  for (const Finding& finding : findings) {
    if (!finding.suppressed.empty() || finding.offset < at || finding.offset + finding.value.size() > text.size()) continue;
    out += text.substr(at, finding.offset - at);
    const std::string_view line = line_of(text, finding.offset);
    const std::string_view head = line.substr(0, static_cast<std::size_t>(text.data() + finding.offset - line.data()));
    out += write(form_for(flavour, file, head), placeholders.name_for(finding));
    at = finding.offset + finding.value.size();
  }
  out += text.substr(at);
  return out;
}

std::string render_profile(const Placeholders& placeholders) {
  std::string out = "# Values of one site, for the placeholders that `dtjc check --fix` wrote. Keep this file private.\n";
  for (const auto& [name, value] : placeholders.values()) out += fmt::format("{} = \"{}\"\n", name, escaped(value));
  return out;
}

}  // namespace dtj::lint
