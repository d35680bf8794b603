#include <fmt/format.h>

#include <memory>
#include <set>

#include "compiler/check/job_draft.hpp"

// The section `init`: a file of tensors and the map from its names to those of the model.

namespace dtj::check {
namespace {

const Record* as_record(const Value& value, std::string_view name) {
  const auto* record = value.as<std::shared_ptr<Record>>();
  return record != nullptr && (*record)->name == name ? record->get() : nullptr;
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string spell_wildcard(const std::string& name) { return name.front() == '*' ? "*" : "{" + name + "}"; }

/// Every wildcard of one side must stand on the other: names are found in both directions.
bool check_wildcards(const NamePattern& side, const NamePattern& other, std::string_view other_name, source::Range range, diag::Sink& sink) {
  const auto known = other.wildcards();
  const std::set<std::string> others(known.begin(), known.end());
  for (const std::string& name : side.wildcards()) {
    if (others.count(name) == 1) continue;
    sink.report({diag::Kind::wrong_weight_rule, range, fmt::format("`{}` does not stand on the {} side of `->`", spell_wildcard(name), other_name)})
        .help("both sides have the same wildcards, for example \"h.{i}.ln_{n}.* -> h.{i}.ln{n}.*\"");
    return false;
  }
  return true;
}

std::optional<WeightRuleDraft> read_rule_text(const Value& value, diag::Sink& sink) {
  const std::string& text = *value.as<std::string>();
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos) {
    sink.report({diag::Kind::wrong_weight_rule, value.range, "a rule has no `->`"})
        .help("write \"name in the file -> name in the model\"");
    return std::nullopt;
  }
  const auto from = read_pattern({std::string(trim(std::string_view(text).substr(0, arrow))), value.range}, "a rule", sink);
  const auto to = read_pattern({std::string(trim(std::string_view(text).substr(arrow + 2))), value.range}, "a rule", sink);
  if (!from || !to) return std::nullopt;
  if (!check_wildcards(to->pattern, from->pattern, "left", value.range, sink)) return std::nullopt;
  if (!check_wildcards(from->pattern, to->pattern, "right", value.range, sink)) return std::nullopt;
  return WeightRuleDraft{from->pattern, to->pattern, false, value.range};
}

bool read_rule_options(const Value& value, WeightRuleDraft& rule, diag::Sink& sink) {
  const auto* record = value.as<std::shared_ptr<Record>>();
  if (record == nullptr) {
    sink.report({diag::Kind::wrong_weight_rule, value.range, fmt::format("the options of a rule are a record, found {}", describe(value))})
        .help("for example (\"a.* -> b.*\", {transpose = true})");
    return false;
  }
  for (const auto& [name, option] : (*record)->fields) {
    const bool* flag = option.as<bool>();
    if (name == "transpose" && flag != nullptr) {
      rule.transpose = *flag;
      continue;
    }
    if (option.is_poison() || option.is_unbound()) return false;
    auto& report = sink.report({diag::Kind::wrong_weight_rule, option.range,
                                name == "transpose" ? fmt::format("`transpose` takes `true` or `false`, found {}", describe(option))
                                                    : fmt::format("a rule has no option `{}`", name)});
    report.help("the option is `transpose`, for example {transpose = true}");
    return false;
  }
  return true;
}

/// "a -> b", or ("a -> b", {transpose = true}). None: reported, or unbound.
std::optional<WeightRuleDraft> read_rule(const Value& value, diag::Sink& sink) {
  if (value.is_poison() || value.is_unbound()) return std::nullopt;
  if (value.as<std::string>() != nullptr) return read_rule_text(value, sink);
  const auto* tuple = value.as<std::shared_ptr<Tuple>>();
  const bool is_pair = tuple != nullptr && (*tuple)->elements.size() == 2 && (*tuple)->elements[0].as<std::string>() != nullptr;
  if (!is_pair) {
    sink.report({diag::Kind::wrong_weight_rule, value.range, fmt::format("a rule is text or a tuple, found {}", describe(value))})
        .help("write \"a.* -> b.*\" or (\"a.* -> b.*\", {transpose = true})");
    return std::nullopt;
  }
  auto rule = read_rule_text((*tuple)->elements[0], sink);
  if (!rule || !read_rule_options((*tuple)->elements[1], *rule, sink)) return std::nullopt;
  return rule;
}

bool read_rules(const Value& map, std::vector<WeightRuleDraft>& rules, diag::Sink& sink) {
  if (map.is_poison() || map.is_unbound()) return false;
  if (map.as<None>() != nullptr) return true;
  const Record* rename = as_record(map, "rename");
  if (rename == nullptr) {
    sink.report({diag::Kind::wrong_type, map.range, fmt::format("`map` takes `rename([...])`, found {}", describe(map))})
        .help("std.io has `rename`, `gpt2_from_hugging_face` and `llama_from_hugging_face`");
    return false;
  }
  const Value* list = rename->find("rules");
  const auto* elements = list != nullptr ? list->as<std::shared_ptr<List>>() : nullptr;
  if (elements == nullptr) return false;
  bool is_good = true;
  for (const Value& element : (*elements)->elements) {
    auto rule = read_rule(element, sink);
    is_good = is_good && rule;
    if (rule) rules.push_back(std::move(*rule));
  }
  return is_good;
}

void read_file(const SectionValues& section, WeightsDraft& draft, diag::Sink& sink) {
  const Entry* entry = section.find("from");
  if (entry == nullptr || entry->value.is_poison() || entry->value.is_unbound()) return;
  const Record* file = as_record(entry->value, "safetensors");
  if (file == nullptr) {
    sink.report({diag::Kind::wrong_type, entry->value.range, fmt::format("`from` takes a file of weights, found {}", describe(entry->value))})
        .help("for example `from = safetensors(<weights>)` of std.io");
    return;
  }
  const Value* path = file->find("path");
  const Value* map = file->find("map");
  if (path == nullptr || map == nullptr || path->is_poison()) return;
  const auto* unbound = path->as<Unbound>();
  const auto* text = path->as<std::string>();
  if (unbound == nullptr && text == nullptr) return;
  draft.path = unbound != nullptr ? fmt::format("<{}>", unbound->name) : *text;
  draft.is_known = read_rules(*map, draft.rules, sink);
}

}  // namespace

WeightsDraft draft_weights(const SectionValues& section, diag::Sink& sink) {
  WeightsDraft draft;
  read_file(section, draft, sink);
  draft.missing = read_text(section, "missing").value == "initialise" ? MissingWeights::initialise : MissingWeights::error;
  if (const Entry* unexpected = section.find("unexpected")) {
    const auto patterns = read_patterns(unexpected->value, "unexpected", sink);
    draft.is_known = draft.is_known && patterns;
    if (patterns)
      for (const StatedPattern& stated : *patterns) draft.unexpected.push_back(stated.pattern.text());
  }
  return draft;
}

}  // namespace dtj::check
