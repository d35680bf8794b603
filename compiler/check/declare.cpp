#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"
#include "compiler/check/interpreter.hpp"

// Names: what a file declares, and how a name is found.

namespace dtj::check {

bool Interpreter::claim(const ScopePtr& scope, const ast::Name& name) {
  auto [place, is_new] = scope->declared.emplace(name.text, name.range);
  if (is_new) return true;
  report(diag::Kind::duplicate_name, name.range, fmt::format("`{}` is declared twice", name.text))
      .label(place->second, "first declared here");
  return false;
}

void Interpreter::define(const ScopePtr& scope, const ast::Name& name, Value value) {
  if (!claim(scope, name)) return;
  value.range = name.range;
  scope->names[name.text] = std::move(value);
}

ScopePtr Interpreter::declare(const ast::File& file) {
  if (auto known = scope_of(file)) return known;
  auto scope = std::make_shared<Scope>();
  scopes_.push_back(scope);
  file_scopes_[&file] = scope;
  const std::string& name = sources.file(file.id).name();
  const bool is_library = name.rfind("std/", 0) == 0;
  // Known before its imports run: modules of the library may import each other.
  if (is_library) libraries_[name.substr(4, name.size() - 8)] = scope;
  if (name != "std/prelude.dtj") scope->parent = prelude();
  for (const auto& import : file.imports) run_import(import, file, scope);
  declare_names(file, scope);
  if (!is_library) {
    // Every constant is evaluated, so that a mistake in one that nobody uses is found too.
    while (!scope->lazy.empty()) force(scope->lazy.begin()->first, scope);
  }
  return scope;
}

void Interpreter::check_attrs(const std::vector<ast::Attr>& attrs) {
  for (const auto& attr : attrs) {
    const std::string name = attr.name.to_string();
    if (name == "optimizer") continue;
    if (name == "shard" || name == "recompute") {
      report(diag::Kind::not_yet, attr.range, fmt::format("`@{}` changes where tensors lie, and not what is computed: it has no effect yet", name));
      continue;
    }
    auto& diagnostic =
        report(diag::Kind::unknown_name, attr.name.range, fmt::format("there is no attribute `@{}`", name));
    suggest(diagnostic, name, {"optimizer", "shard", "recompute"});
  }
}

bool Interpreter::is_valid_function(const ast::FnDecl& decl) {
  check_attrs(decl.attrs);
  if (decl.body) return true;
  report(diag::Kind::wrong_type, decl.name.range, fmt::format("the function `{}` has no body", decl.name.text))
      .note("functions without a body are primitives, and the compiler declares all of them");
  return false;
}

void Interpreter::declare_names(const ast::File& file, const ScopePtr& scope) {
  for (const auto& decl : file.decls) {
    if (const auto* bind = std::get_if<ast::BindDecl>(&decl)) {
      binds_.emplace(bind->name.text, bind);
    } else if (const auto* constant = std::get_if<ast::ConstDecl>(&decl)) {
      if (claim(scope, constant->name)) scope->lazy[constant->name.text] = constant;
    } else if (const auto* dims = std::get_if<ast::DimDecl>(&decl)) {
      for (const auto& name : dims->names) claim(scope, name);
      if (dims->where) {
        report(diag::Kind::not_in_edition, dims->where->range, "`where` on a `dim` is not part of this edition")
            .help("write the condition as `where` of the function or module");
      }
    } else if (const auto* record = std::get_if<ast::RecordDecl>(&decl)) {
      define(scope, record->name, {RecordType{record, scope}, {}});
    } else if (const auto* enumeration = std::get_if<ast::EnumDecl>(&decl)) {
      define(scope, enumeration->name, {EnumType{enumeration}, {}});
    } else if (const auto* module = std::get_if<ast::ModuleDecl>(&decl)) {
      check_attrs(module->attrs);
      define(scope, module->name, {ModuleType{module, scope}, {}});
    } else if (const auto* function = std::get_if<ast::FnDecl>(&decl)) {
      if (!is_valid_function(*function)) continue;
      define(scope, function->name, {std::make_shared<Function>(Function{function, nullptr, scope, ""}), {}});
    } else if (const auto* test = std::get_if<ast::TestDecl>(&decl)) {
      report(diag::Kind::not_in_edition, test->range, "`test` blocks are not part of this edition");
    }
  }
}

ScopePtr Interpreter::scope_of(const ast::File& file) const {
  const auto known = file_scopes_.find(&file);
  return known == file_scopes_.end() ? nullptr : known->second;
}

ScopePtr Interpreter::declare_job(const ast::JobDecl& job, const ScopePtr& parent) {
  return declare_jobs({{&job, parent}}).front();
}

std::vector<ScopePtr> Interpreter::declare_jobs(const std::vector<JobLevel>& levels) {
  std::vector<ScopePtr> scopes;
  std::map<std::string, ScopePtr> owners;  // of names, the most derived
  for (const JobLevel& level : levels) {
    auto scope = std::make_shared<Scope>();
    scopes_.push_back(scope);
    scopes.push_back(scope);
    scope->parent = level.file_scope;
    for (const auto& constant : level.job->consts) {
      if (claim(scope, constant.name) && owners.count(constant.name.text) == 0) scope->lazy[constant.name.text] = &constant;
    }
    for (const auto& function : level.job->functions) {
      if (!is_valid_function(function) || !claim(scope, function.name)) continue;
      if (owners.count(function.name.text) != 0) continue;
      Value value{std::make_shared<Function>(Function{&function, nullptr, scope, ""}), function.name.range};
      scope->names[function.name.text] = std::move(value);
    }
    for (const auto& [name, range] : scope->declared) owners.emplace(name, scope);
  }
  for (const ScopePtr& scope : scopes) {
    for (const auto& [name, owner] : owners) {
      if (owner != scope) scope->elsewhere[name] = owner;
    }
  }
  for (const ScopePtr& scope : scopes) {
    while (!scope->lazy.empty()) force(scope->lazy.begin()->first, scope);
  }
  return scopes;
}

void Interpreter::rebind(std::map<std::string, Value> values) {
  for (const auto& [name, value] : rebound_) bound_.erase(name);
  std::set<std::string> changed;
  for (const auto* bindings : {&rebound_, &values})
    for (const auto& [name, value] : *bindings) changed.insert(name);
  rebound_ = std::move(values);
  for (const auto& [name, value] : rebound_) bound_[name] = value;
  for (const ScopePtr& scope : scopes_) {
    for (auto constant = scope->forced.begin(); constant != scope->forced.end();) {
      const auto& [name, forced] = *constant;
      const bool is_stale = std::any_of(changed.begin(), changed.end(), [&](const std::string& each) { return forced.placeholders.count(each) != 0; });
      if (is_stale) {
        scope->names.erase(name);
        scope->lazy[name] = forced.decl;
      }
      constant = is_stale ? scope->forced.erase(constant) : std::next(constant);
    }
  }
}

Value Interpreter::force(std::string name, const ScopePtr& scope) {
  const ast::ConstDecl* decl = scope->lazy.at(name);
  if (!scope->in_progress.insert(name).second) {
    report(diag::Kind::cyclic_definition, decl->name.range, fmt::format("the constant `{}` depends on itself", name));
    return {};
  }
  std::set<std::string> used_before;
  used_before.swap(used_placeholders);
  Value value = evaluate(*decl->value, scope);
  if (!used_placeholders.empty()) scope->forced[name] = {decl, used_placeholders};
  used_placeholders.swap(used_before);
  if (decl->type && !value.is_poison()) {
    Fit to_type{scope, fmt::format("the constant `{}`", name), decl->type->range, false};
    if (!fit(value, *decl->type, to_type)) value.data = Poison{};
  }
  scope->in_progress.erase(name);
  scope->lazy.erase(name);
  scope->names[name] = value;
  return value;
}

std::optional<Value> Interpreter::find_here(const std::string& name, const ScopePtr& scope) {
  if (scope->lazy.find(name) != scope->lazy.end()) {
    Value value = force(name, scope);
    if (scope->names.find(name) == scope->names.end()) return value;  // it depends on itself, which is reported
  }
  if (auto place = scope->names.find(name); place != scope->names.end()) {
    if (auto forced = scope->forced.find(name); forced != scope->forced.end())
      used_placeholders.insert(forced->second.placeholders.begin(), forced->second.placeholders.end());
    return place->second;
  }
  if (auto place = scope->elsewhere.find(name); place != scope->elsewhere.end()) {
    if (auto owner = place->second.lock()) return find_here(name, owner);
  }
  auto instance = scope->instance.lock();
  if (!instance) return std::nullopt;
  for (const auto& item : instance->decl->items) {
    const auto* function = std::get_if<ast::FnDecl>(&item);
    if (!function || function->name.text != name || !function->body) continue;
    return Value{std::make_shared<Function>(Function{function, instance, instance->scope, ""}), function->name.range};
  }
  return std::nullopt;
}

std::optional<Value> Interpreter::find(const std::string& name, const ScopePtr& scope) {
  for (ScopePtr place = scope; place; place = place->parent) {
    if (auto value = find_here(name, place)) return value;
  }
  if (find_primitive(name)) return Value{std::make_shared<Function>(Function{nullptr, nullptr, nullptr, name}), {}};
  if (name == "training" && is_recording()) return Value{recording().training, {}};
  return std::nullopt;
}

Value Interpreter::look_up(const std::string& name, source::Range range, const ScopePtr& scope) {
  if (auto value = find(name, scope)) {
    return use_slot(*value, range);
  }
  if (name == "training" && is_recording()) return {recording_->training, range};
  auto& diagnostic = report(diag::Kind::unknown_name, range, fmt::format("the name `{}` is not known", name));
  if (name == "training") {
    diagnostic.help("`training` is known in the functions that the job runs");
    return {};
  }
  std::vector<std::string> candidates = scope->all_names();
  for (auto primitive : primitive_names()) candidates.emplace_back(primitive);
  if (auto near = diag::nearest(name, candidates))
    diagnostic.help(fmt::format("did you mean `{}`?", *near)).fix(range, *near, diag::Applicability::maybe_incorrect);
  for (auto module : source::stdlib_modules()) {
    if (module == "prelude") continue;
    const std::string text(*source::find_stdlib(module));
    const bool declares = text.find("\nmodule " + name + "(") != std::string::npos ||
                          text.find("\nfn " + name + "(") != std::string::npos ||
                          text.find("\nrecord " + name + " ") != std::string::npos;
    if (declares) diagnostic.help(fmt::format("add `import std.{}.{{{}}};`", module, name));
  }
  return {};
}

}  // namespace dtj::check
