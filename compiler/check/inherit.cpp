#include "compiler/check/inherit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/check/sections.hpp"

namespace dtj::check {
namespace {

/// The job that a path names, beside the ones it might have meant.
struct Sought {
  const ast::JobDecl* job = nullptr;
  const ast::File* file = nullptr;
  std::vector<std::string> candidates;
  bool is_reported = false;  ///< its file could not be read
};

void look_in(const ast::File& file, const std::string& name, const std::string& prefix, Sought& sought) {
  for (const ast::Decl& decl : file.decls) {
    const auto* job = std::get_if<ast::JobDecl>(&decl);
    if (job == nullptr) continue;
    sought.candidates.push_back(prefix + job->name.text);
    if (job->name.text != name || sought.job != nullptr) continue;
    sought.job = job;
    sought.file = &file;
  }
}

Sought find_base(const ast::Path& path, const ast::File& file, const ImportFiles& imports) {
  Sought sought;
  const bool is_local = path.parts.size() == 1;
  look_in(file, is_local ? path.parts[0].text : "", "", sought);
  for (const ast::ImportDecl& import : file.imports) {
    if (!import.file) continue;
    const std::string name = import_name(import).text;
    const bool is_meant = path.parts.size() == 2 && path.parts[0].text == name;
    const ast::File* other = imports.find(import);
    if (other != nullptr) look_in(*other, is_meant ? path.parts[1].text : "", name + ".", sought);
    if (other == nullptr && is_meant) sought.is_reported = true;
  }
  return sought;
}

void report_unknown_base(const ast::JobDecl& job, Sought sought, diag::Sink& sink) {
  const std::string wanted = job.extends->to_string();
  auto& report = sink.report({diag::Kind::unknown_base_job, job.extends->range, fmt::format("there is no job `{}` to extend", wanted)});
  auto& names = sought.candidates;
  names.erase(std::remove(names.begin(), names.end(), job.name.text), names.end());
  if (names.empty())
    report.help("import the file that has it: `import \"base.dtj\" as base;`, then `extends base.NAME`");
  else
    suggest(report, wanted, names);
}

void report_circle(const ast::JobDecl& job, const std::vector<JobInFile>& line, const ast::JobDecl& first, diag::Sink& sink) {
  std::string circle;
  for (const JobInFile& each : line)
    if (!circle.empty() || each.job == &first) circle += each.job->name.text + " -> ";
  sink.report({diag::Kind::inheritance_cycle, job.extends->range, fmt::format("job `{}` extends itself", first.name.text)})
      .note(circle + first.name.text)
      .help("leave out `extends` in one of them");
}

std::string key_of(const ast::Setting& setting) { return setting.key.to_string(); }

bool has_key(const std::vector<MergedSetting>& settings, const std::string& key) {
  return std::any_of(settings.begin(), settings.end(), [&](const MergedSetting& s) { return key_of(*s.setting) == key; });
}

/// `slurm` of `method = slurm(...)`; none: it is no plain word.
std::optional<std::string> method_of(const std::vector<MergedSetting>& settings) {
  for (const MergedSetting& each : settings) {
    if (key_of(*each.setting) != "method" || !each.setting->value) continue;
    const ast::Expr* expr = each.setting->value.get();
    if (const auto* call = std::get_if<ast::Call>(&expr->node)) expr = call->callee.get();
    if (const auto* name = std::get_if<ast::NameRef>(&expr->node)) return name->name;
  }
  return std::nullopt;
}

bool belongs_to_method(const ast::Setting& setting) {
  const KeySchema* key = find_section_schema("launch")->find(key_of(setting));
  return key != nullptr && key->belongs_to_method;
}

/// Adds what the base says and the heir does not.
void inherit_settings(const std::vector<MergedSetting>& base, bool drops_method, std::vector<MergedSetting>& heir) {
  std::vector<MergedSetting> inherited;
  for (const MergedSetting& each : base) {
    if (has_key(heir, key_of(*each.setting)) || (drops_method && belongs_to_method(*each.setting))) continue;
    inherited.push_back(each);
  }
  heir.insert(heir.end(), inherited.begin(), inherited.end());
}

bool is_same_section(const ast::Section& a, const ast::Section& b) {
  return a.kind.text == b.kind.text && (a.label ? a.label->text : "") == (b.label ? b.label->text : "");
}

void inherit_sections(const std::vector<MergedSection>& base, std::vector<MergedSection>& heir, std::vector<MergedSection>& replaced) {
  const std::size_t num_own = heir.size();
  for (const MergedSection& section : base) {
    MergedSection* own = nullptr;
    for (std::size_t i = 0; i < num_own && own == nullptr; ++i)
      if (is_same_section(heir[i].front(), section.front())) own = &heir[i];
    if (own == nullptr) {
      heir.push_back(section);
      continue;
    }
    if (section.front().label) {
      replaced.push_back(section);
      continue;
    }
    const auto own_method = method_of(own->settings);
    const bool drops = section.front().kind.text == "launch" && own_method && own_method != method_of(section.settings);
    inherit_settings(section.settings, drops, own->settings);
    own->parts.insert(own->parts.end(), section.parts.begin(), section.parts.end());
  }
}

MergedJob as_merged(const ast::JobDecl& job, const std::shared_ptr<Scope>& scope) {
  MergedJob merged;
  merged.job = &job;
  for (const ast::Setting& setting : job.settings) merged.settings.push_back({&setting, scope});
  for (const ast::Section& section : job.sections) {
    MergedSection one;
    one.parts.push_back(&section);
    for (const ast::Setting& setting : section.settings) one.settings.push_back({&setting, scope});
    merged.sections.push_back(std::move(one));
  }
  for (const ast::FnDecl& function : job.functions)
    if (function.name.text == "objective" && merged.objective == nullptr) {
      merged.objective = &function;
      merged.objective_scope = scope;
    }
  return merged;
}

}  // namespace

std::vector<JobInFile> find_line(const ast::JobDecl& job, const ast::File& file, const ImportFiles& imports, diag::Sink& sink) {
  std::vector<JobInFile> line{{&job, &file}};
  while (line.back().job->extends) {
    const ast::JobDecl& heir = *line.back().job;
    Sought sought = find_base(*heir.extends, *line.back().file, imports);
    if (sought.job == nullptr) {
      if (!sought.is_reported) report_unknown_base(heir, std::move(sought), sink);
      return line;
    }
    if (std::any_of(line.begin(), line.end(), [&](const JobInFile& each) { return each.job == sought.job; })) {
      report_circle(heir, line, *sought.job, sink);
      return line;
    }
    line.push_back({sought.job, sought.file});
  }
  return line;
}

MergedJob merge_jobs(const std::vector<JobInFile>& line, const std::vector<std::shared_ptr<Scope>>& scopes) {
  MergedJob merged = as_merged(*line.back().job, scopes[line.size() - 1]);
  for (std::size_t i = line.size() - 1; i-- > 0;) {
    MergedJob heir = as_merged(*line[i].job, scopes[i]);
    inherit_settings(merged.settings, false, heir.settings);
    inherit_sections(merged.sections, heir.sections, heir.replaced);
    heir.replaced.insert(heir.replaced.end(), merged.replaced.begin(), merged.replaced.end());
    if (heir.objective == nullptr) {
      heir.objective = merged.objective;
      heir.objective_scope = merged.objective_scope;
    }
    merged = std::move(heir);
  }
  return merged;
}

}  // namespace dtj::check
