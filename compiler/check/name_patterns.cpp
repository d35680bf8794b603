#include "compiler/check/name_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace dtj::check {
namespace {

std::string replace_numbers(const std::string& name, std::string_view by) {
  std::string text;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    text += (begin == 0 ? "" : ".") + (is_number ? std::string(by) : part);
    begin = end + 1;
  }
  return text;
}

/// Patterns that match something, as a person may have meant them.
std::vector<std::string> likely_patterns(const std::vector<ParamInfo>& params) {
  std::vector<std::string> candidates;
  std::set<std::string> seen;
  const auto add = [&](const std::string& candidate) {
    if (seen.insert(candidate).second) candidates.push_back(candidate);
  };
  for (const ParamInfo& param : params) {
    for (const std::string& name : {param.name, replace_numbers(param.name, "{i}"), replace_numbers(param.name, "*")}) {
      add(name);
      for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
        add(name.substr(0, dot) + ".*");
        add("*" + name.substr(dot));
      }
    }
  }
  return candidates;
}

/// The names with one block for all of a list: "wte.weight", "h.{i}.ln1.weight", ...
std::string outline(const std::vector<ParamInfo>& params) {
  constexpr std::size_t max_names = 6;
  std::vector<std::string> names;
  for (const ParamInfo& param : params) {
    std::string name = replace_numbers(param.name, "{i}");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  const bool is_cut = names.size() > max_names;
  if (is_cut) names.resize(max_names);
  return fmt::format("`{}`{}", fmt::join(names, "`, `"), is_cut ? ", ..." : "");
}

}  // namespace

std::optional<StatedPattern> read_pattern(const Value& value, std::string_view user, diag::Sink& sink) {
  if (value.is_poison() || value.is_unbound()) return std::nullopt;
  const auto* text = value.as<std::string>();
  if (text == nullptr) {
    sink.report({diag::Kind::wrong_type, value.range, fmt::format("{} takes patterns of names as text, found {}", user, describe(value))})
        .help("for example \"wte.*\" or \"h.{i}.ln1.weight\"");
    return std::nullopt;
  }
  auto pattern = NamePattern::parse(*text);
  if (pattern) return StatedPattern{std::move(*pattern), value.range};
  sink.report({diag::Kind::bad_name_pattern, value.range, fmt::format("this is no pattern of names: {}", pattern.error().message)})
      .help("`*` stands for any text, `{i}` for one part between dots: \"h.{i}.attn.*\"");
  return std::nullopt;
}

std::optional<std::vector<StatedPattern>> read_patterns(const Value& value, std::string_view key, diag::Sink& sink) {
  const auto* list = value.as<std::shared_ptr<List>>();
  if (list == nullptr) {
    if (value.is_poison() || value.is_unbound()) return std::nullopt;
    const auto* text = value.as<std::string>();
    sink.report({diag::Kind::wrong_type, value.range, fmt::format("`{}` takes a list of patterns, found {}", key, describe(value))})
        .help(text != nullptr ? fmt::format("write `{} = [\"{}\"]`", key, *text) : fmt::format("for example `{} = [\"wte.*\"]`", key));
    return std::nullopt;
  }
  std::vector<StatedPattern> patterns;
  bool is_good = true;
  for (const Value& element : (*list)->elements) {
    auto pattern = read_pattern(element, fmt::format("`{}`", key), sink);
    is_good = is_good && pattern;
    if (pattern) patterns.push_back(std::move(*pattern));
  }
  if (!is_good) return std::nullopt;
  return patterns;
}

void report_no_match(diag::Kind kind, source::Range range, std::string message, const NamePattern& pattern,
                     const std::vector<ParamInfo>& params, diag::Sink& sink) {
  auto& report = sink.report({kind, range, std::move(message)});
  if (const auto near = diag::nearest(pattern.text(), likely_patterns(params)))
    report.help(fmt::format("did you mean \"{}\"?", *near));
  else
    report.note(fmt::format("the model has {}", outline(params)));
}

}  // namespace dtj::check
