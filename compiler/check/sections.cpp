#include "compiler/check/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <gsl/assert>
#include <type_traits>

#include "compiler/check/evaluator.hpp"
#include "compiler/check/inherit.hpp"
#include "compiler/check/sections_read.hpp"

namespace dtj::check {
namespace {

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const SectionSchema& schema : section_schemas()) names.emplace_back(schema.name);
  return names;
}

std::vector<std::string> key_names(const SectionSchema& schema) {
  std::vector<std::string> names;
  for (const KeySchema& key : schema.keys) names.emplace_back(key.name);
  return names;
}

std::string join_comma(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "`" : ", `") + w + "`";
  return text;
}

/// "section `train`", or "job" for the settings of the job itself.
std::string title(const SectionSchema& schema) {
  return schema.name == "job" ? std::string("a job") : fmt::format("section `{}`", schema.name);
}

/// The key that was probably meant.
std::optional<std::string> report_unknown_key(const SectionSchema& schema, const ast::Setting& setting, diag::Sink& sink) {
  const std::string name = setting.key.to_string();
  auto& report = sink.report({diag::Kind::unknown_key, setting.key.range, fmt::format("{} has no key `{}`", title(schema), name)});
  const std::vector<std::string> keys = key_names(schema);
  if (auto meant = diag::nearest(name, keys)) {
    suggest(report, name, keys);
    report.fix(setting.key.range, *meant);
    return meant;
  }
  // A right key in the wrong place is as common as a misspelt one.
  for (const SectionSchema& other : section_schemas())
    if (other.name != schema.name && other.find(name) != nullptr) {
      report.help(fmt::format("`{}` belongs to section `{}`", name, other.name));
      return std::nullopt;
    }
  if (job_schema().find(name) != nullptr && schema.name != "job") {
    report.help(fmt::format("`{}` stands in the job itself, outside the sections", name));
    return std::nullopt;
  }
  if (schema.name == "job" && find_section_schema(name) != nullptr) {
    report.help(fmt::format("`{}` is a section: write `{} {{ ... }}`", name, name));
    return std::nullopt;
  }
  suggest(report, name, keys);
  return std::nullopt;
}

void report_missing_keys(const SectionSchema& schema, const SectionValues& values, diag::Sink& sink) {
  for (const KeySchema& key : schema.keys) {
    if (!key.is_required || !values.is_missing(key.name)) continue;
    sink.report({diag::Kind::missing_key, values.range, fmt::format("{} needs the key `{}`", title(schema), key.name)})
        .help(fmt::format("for example `{} = {};`", key.name, key.example));
  }
}

/// Whether the label of a section is as its schema wants it.
bool check_label(const SectionSchema& schema, const ast::Section& section, diag::Sink& sink) {
  if (schema.has_label && !section.label) {
    sink.report({diag::Kind::missing_key, section.kind.range, fmt::format("section `{}` needs a name", schema.name)})
        .help(fmt::format("for example `{} train {{ ... }}`", schema.name));
    return false;
  }
  if (!schema.has_label && section.label)
    sink.report({diag::Kind::unknown_key, section.label->range, fmt::format("section `{}` takes no name, found `{}`", schema.name, section.label->text)})
        .help(fmt::format("write `{} {{ ... }}`", schema.name));
  return true;
}

void report_unknown_section(const ast::Section& section, diag::Sink& sink) {
  auto& report = sink.report({diag::Kind::unknown_key, section.kind.range, fmt::format("a job has no section `{}`", section.kind.text)});
  if (job_schema().find(section.kind.text) != nullptr)
    report.help(fmt::format("`{}` is a setting: write `{} = ...;`", section.kind.text, section.kind.text));
  else
    suggest(report, section.kind.text, section_names());
}

void read_one_section(const MergedSection& merged, const ReadContext& context, JobSections& sections) {
  const ast::Section& section = merged.front();
  diag::Sink& sink = *context.sink;
  const SectionSchema* schema = find_section_schema(section.kind.text);
  if (schema == nullptr) return report_unknown_section(section, sink);
  for (const ast::Section& inner : section.sections)
    sink.report({diag::Kind::unknown_key, inner.kind.range, fmt::format("section `{}` holds no section `{}`", schema->name, inner.kind.text)})
        .help(find_section_schema(inner.kind.text) != nullptr ? "write it in the job itself" : "write `key = value;`");
  if (!check_label(*schema, section, sink)) return;

  const std::string label = schema->has_label ? section.label->text : "";
  const SectionValues* earlier = nullptr;
  if (schema->has_label) {
    for (const SectionValues& data : sections.data)
      if (data.label == label) earlier = &data;
  } else if (auto found = sections.sections.find(schema->name); found != sections.sections.end()) {
    earlier = &found->second;
  }
  if (earlier != nullptr) {
    sink.report({diag::Kind::duplicate_key, section.kind.range,
                 fmt::format("section `{}{}{}` is given twice", schema->name, label.empty() ? "" : " ", label)})
        .label(earlier->range, "given here first")
        .help("put the settings of both into one section");
    return;
  }

  SectionValues values = read_settings(*schema, merged.settings, section.kind.range, context);
  for (const ast::Section* part : merged.parts) values.parts.push_back(part->range);
  values.label = label;
  if (section.label) values.label_range = section.label->range;
  if (schema->has_label)
    sections.data.push_back(std::move(values));
  else
    sections.sections.emplace(schema->name, std::move(values));
}

template <class T>
Stated<T> absent_value(const KeySchema& key) {
  Stated<T> stated;
  if constexpr (std::is_same_v<T, std::string>) {
    if (const auto* fallback = std::get_if<std::string_view>(&key.fallback)) stated.value = *fallback;
  } else if (const T* fallback = std::get_if<T>(&key.fallback)) {
    stated.value = *fallback;
  }
  return stated;
}

template <class T>
Stated<T> read_as(const SectionValues& section, std::string_view name) {
  const KeySchema* key = section.schema->find(name);
  Expects(key != nullptr);
  const Entry* entry = section.find(name);
  Stated<T> stated = absent_value<T>(*key);
  if (entry == nullptr) return stated;
  stated.range = source::join(entry->setting->key.range, entry->value.range);
  const T* value = entry->value.as<T>();
  stated.presence = value != nullptr ? Presence::known : Presence::unknown;
  if (value != nullptr) stated.value = *value;
  return stated;
}

}  // namespace

void suggest(diag::Diagnostic& report, std::string_view found, const std::vector<std::string>& candidates) {
  if (auto near = diag::nearest(found, candidates)) {
    report.help(fmt::format("did you mean `{}`?", *near));
    // Only where the range is the word itself, without quotes or more around it.
    const bool is_word = !report.range.is_none && report.range.end - report.range.begin == found.size();
    if (is_word) report.fix(report.range, *near, diag::Applicability::maybe_incorrect);
    return;
  }
  if (!candidates.empty()) report.help("there is " + join_comma(candidates));
}

const Entry* SectionValues::find(std::string_view key) const {
  const auto found = entries.find(key);
  return found == entries.end() ? nullptr : &found->second;
}

const Entry* find_argument(const SectionValues& section, std::string_view key, std::string_view argument) {
  const Entry* entry = section.find(key);
  if (entry == nullptr) return nullptr;
  for (const Entry& each : entry->arguments)
    if (each.key->name == argument) return &each;
  return nullptr;
}

bool SectionValues::is_missing(std::string_view key) const {
  return find(key) == nullptr && misspelt.find(key) == misspelt.end();
}

source::Range SectionValues::join(source::Range a, source::Range b) const {
  if (a.is_none) return b;
  if (b.is_none) return a;
  const auto holds = [](const source::Range& part, const source::Range& range) {
    return part.file == range.file && part.begin <= range.begin && range.end <= part.end;
  };
  for (const source::Range& part : parts)
    if (holds(part, a) || holds(part, b)) return holds(part, a) && holds(part, b) ? source::join(a, b) : (holds(part, a) ? a : b);
  return a;
}

SectionValues JobSections::section(std::string_view name) const {
  if (const auto found = sections.find(name); found != sections.end()) return found->second;
  SectionValues empty;
  empty.schema = find_section_schema(name);
  Expects(empty.schema != nullptr);
  empty.range = top.range;
  empty.is_written = false;
  return empty;
}

SectionValues read_settings(const SectionSchema& schema, const std::vector<MergedSetting>& settings, source::Range range,
                            const ReadContext& context) {
  SectionValues values;
  values.schema = &schema;
  values.range = range;
  for (const MergedSetting& merged : settings) {
    const ast::Setting& setting = *merged.setting;
    const KeySchema* key = setting.key.parts.size() == 1 ? schema.find(setting.key.parts.front().text) : nullptr;
    if (key == nullptr) {
      if (auto meant = report_unknown_key(schema, setting, *context.sink)) values.misspelt.insert(*std::move(meant));
      continue;
    }
    if (const Entry* earlier = values.find(key->name)) {
      context.sink
          ->report({diag::Kind::duplicate_key, setting.key.range, fmt::format("`{}` is given twice", key->name)})
          .label(earlier->setting->key.range, "given here first")
          .help("keep one of the two");
      continue;
    }
    const ReadContext own{context.evaluator, merged.scope, context.sink};
    std::set<std::string>& used = context.evaluator->used_placeholders();
    std::set<std::string> used_before;
    used_before.swap(used);
    Entry entry{&setting, key, read_entry(setting, *key, own), read_arguments(setting, *key, own), used, merged.scope};
    used.merge(used_before);
    values.entries.emplace(key->name, std::move(entry));
  }
  report_missing_keys(schema, values, *context.sink);
  return values;
}

JobSections read_sections(const MergedJob& merged, const ReadContext& context) {
  const ast::JobDecl& job = *merged.job;
  JobSections sections;
  sections.top = read_settings(job_schema(), merged.settings, job.name.range, context);
  for (const MergedSection& section : merged.sections) read_one_section(section, context, sections);
  for (const SectionSchema& schema : section_schemas()) {
    // A misspelt section is reported as such, not as missing too.
    const bool is_written = std::any_of(merged.sections.begin(), merged.sections.end(), [&](const MergedSection& s) {
      const std::string& kind = s.front().kind.text;
      return kind == schema.name || (find_section_schema(kind) == nullptr && diag::nearest(kind, section_names()) == schema.name);
    });
    if (schema.is_required && !is_written)
      context.sink->report({diag::Kind::missing_key, job.name.range, fmt::format("job `{}` needs a section `{}`", job.name.text, schema.name)})
          .help(fmt::format("for example `{}`", schema.example));
  }
  return sections;
}

Stated<std::int64_t> read_integer(const SectionValues& section, std::string_view key) { return read_as<std::int64_t>(section, key); }
Stated<double> read_number(const SectionValues& section, std::string_view key) { return read_as<double>(section, key); }
Stated<bool> read_boolean(const SectionValues& section, std::string_view key) { return read_as<bool>(section, key); }
Stated<Quantity> read_quantity(const SectionValues& section, std::string_view key) { return read_as<Quantity>(section, key); }

Stated<std::string> read_text(const SectionValues& section, std::string_view key) {
  Stated<std::string> stated = read_as<std::string>(section, key);
  const Entry* entry = section.find(key);
  const auto* unbound = entry != nullptr ? entry->value.as<Unbound>() : nullptr;
  if (unbound != nullptr && entry->key->type == KeyType::text) {
    stated.value = fmt::format("<{}>", unbound->name);
    stated.presence = Presence::known;
  }
  return stated;
}

Stated<std::vector<std::string>> read_words(const SectionValues& section, std::string_view key) {
  Stated<std::vector<std::string>> stated;
  const Entry* entry = section.find(key);
  if (entry == nullptr) return stated;
  stated.range = source::join(entry->setting->key.range, entry->value.range);
  const auto* list = entry->value.as<std::shared_ptr<List>>();
  stated.presence = list != nullptr ? Presence::known : Presence::unknown;
  if (list == nullptr) return stated;
  for (const Value& element : (*list)->elements)
    if (const auto* text = element.as<std::string>()) stated.value.push_back(*text);
  return stated;
}

}  // namespace dtj::check
