#include "compiler/lint/fix.hpp"

#include <algorithm>
#include <map>

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

/// A stretch of a job that a placeholder replaces.
struct Cut {
  std::size_t begin, end;
  std::string text;
};

/// The type that the language gives such a placeholder.
std::string_view job_type(std::string_view kind) {
  if (kind == "partition") return "slurm.partition";
  if (kind == "account") return "slurm.account";
  if (kind == "qos") return "slurm.qos";
  if (kind == "path") return "path.any";
  if (kind == "node" || kind == "hostname" || kind == "ip") return "host";
  if (kind == "port") return "port";
  if (kind == "credential") return "secret";
  return "string";
}

bool is_in_job_comment(std::string_view head) {
  bool in_string = false;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '"' && (i == 0 || head[i - 1] != '\\')) in_string = !in_string;
    if (!in_string && head[i] == '/' && i + 1 < head.size() && head[i + 1] == '/') return true;
  }
  return false;
}

/// A literal becomes a placeholder, quotes and all; `bind <x>: type = "literal"` loses its default; a comment keeps its
/// words around the name.
Cut cut_for(std::string_view text, const Finding& finding, const std::string& name, bool& is_value) {
  const std::size_t begin = finding.offset, end = begin + finding.value.size();
  const std::string_view line = line_of(text, begin);
  const auto line_begin = static_cast<std::size_t>(line.data() - text.data());
  const std::string_view head = line.substr(0, begin - line_begin);
  const std::string written = fmt::format("<{}>", name);
  is_value = false;
  if (is_in_job_comment(head)) return {begin, end, written};
  const auto open = head.rfind('"');
  const auto close = text.find('"', end);
  const std::size_t line_end = line_begin + line.size();
  if (open == std::string_view::npos || close == std::string_view::npos || close >= line_end) {
    is_value = true;
    return {begin, end, written};
  }
  std::size_t from = line_begin + open;
  const std::string_view before = trim_back(head.substr(0, open));
  const bool is_bind = starts_with(trim_front(line), "bind") && !before.empty() && before.back() == '=';
  if (is_bind) return {line_begin + trim_back(before.substr(0, before.size() - 1)).size(), close + 1, ""};
  if (starts_with(trim_front(line), "bind") || starts_with(trim_front(line), "import")) return {begin, end, written};  // a help text
  is_value = true;
  return {from, close + 1, written};
}

std::string apply_to_job(std::string_view text, const std::vector<Finding>& findings, Placeholders& placeholders) {
  std::vector<Cut> cuts;
  std::map<std::string, std::string> binds;
  for (const Finding& finding : findings) {
    if (!finding.suppressed.empty() || finding.offset + finding.value.size() > text.size()) continue;
    const std::string name = lower(placeholders.name_for(finding));
    bool is_value = false;
    Cut cut = cut_for(text, finding, name, is_value);
    if (!cuts.empty() && cut.begin < cuts.back().end) continue;
    if (is_value) binds.emplace(name, fmt::format("bind <{}>: {} \"{}\";\n", name, job_type(finding.kind), finding.kind));
    cuts.push_back(std::move(cut));
  }
  // Declarations stand behind the imports.
  std::size_t declare_at = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.size(), text.find('\n', at)) + 1;
    const std::string_view line = trim_front(text.substr(at, std::min(text.size(), end) - at));
    if (starts_with(line, "dtj ") || starts_with(line, "import ")) declare_at = std::min(text.size(), end);
    at = end;
  }
  std::string declared;
  for (const auto& [name, line] : binds) {
    if (text.find(fmt::format("bind <{}>", name)) == std::string_view::npos) declared += line;
  }
  if (!declared.empty()) cuts.push_back({declare_at, declare_at, declared});
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t at = 0;
  for (const Cut& cut : cuts) {
    if (cut.begin < at) continue;
    out += text.substr(at, cut.begin - at);
    out += cut.text;
    at = cut.end;
  }
  return out += text.substr(at);
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
  if (flavour == Flavour::job) return apply_to_job(text, findings, placeholders);
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
  out += "default = \"site\"\n\n[site.site.bind]\n";
  for (const auto& [name, value] : placeholders.values()) out += fmt::format("{} = \"{}\"\n", lower(name), escaped(value));
  return out;
}

}  // namespace dtj::lint
