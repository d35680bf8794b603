#include <fmt/format.h>

#include "compiler/check/import_files.hpp"
#include "compiler/check/interpreter.hpp"
#include "compiler/parse/parse.hpp"

namespace dtj::check {

ScopePtr Interpreter::prelude() {
  return library("prelude", {});
}

ScopePtr Interpreter::library(const std::string& module, source::Range range) {
  if (auto known = libraries_.find(module); known != libraries_.end()) return known->second;
  auto text = source::find_stdlib(module);
  if (!text) {
    auto& diagnostic =
        report(diag::Kind::unknown_name, range, fmt::format("the standard library has no module `{}`", module));
    std::vector<std::string> modules;
    for (auto name : source::stdlib_modules()) {
      if (name != "prelude") modules.emplace_back(name);
    }
    if (auto near = diag::nearest(module, modules)) {
      diagnostic.help(fmt::format("did you mean `std.{}`?", *near));
    } else {
      diagnostic.help(fmt::format("it has std.{}", fmt::join(modules, ", std.")));
    }
    return nullptr;
  }
  const auto id = sources.add("std/" + module + ".dtj", std::string(*text));
  files_.push_back(parse::parse(sources.file(id), *sink));
  return declare(*files_.back());
}

void Interpreter::import_selected(const ast::ImportDecl& import, const std::string& from,
                                  const std::vector<ast::Name>& names, const ScopePtr& library, const ScopePtr& scope) {
  for (const auto& name : names) {
    if (auto value = find_here(name.text, library)) {
      define(scope, name, *value);
      continue;
    }
    auto& diagnostic = report(diag::Kind::unknown_name, name.range, fmt::format("`{}` has no `{}`", from, name.text));
    std::vector<std::string> candidates;
    for (const auto& [known, range] : library->declared) candidates.push_back(known);
    suggest(diagnostic, name.text, candidates);
    define(scope, name, {});
  }
  if (import.alias && !import.selected.empty()) {
    report(diag::Kind::wrong_argument, import.alias->range, "an import of single names takes no `as`");
  }
}

void Interpreter::run_import(const ast::ImportDecl& import, const ast::File& file, const ScopePtr& scope) {
  if (import.file) {
    ScopePtr other = import_file(import, file);
    const ast::Name name = import_name(import);
    if (other)
      define(scope, name, {Namespace{name.text, other}, {}});
    else
      define(scope, name, {});
    return;
  }
  if (!import.path || import.path->parts.empty()) return;
  const auto& parts = import.path->parts;
  auto poison_names = [&] {
    for (const auto& name : import.selected) define(scope, name, {});
    if (import.selected.empty()) define(scope, import.alias ? *import.alias : parts.back(), {});
  };
  if (parts[0].text != "std" || parts.size() < 2 || parts.size() > 3) {
    report(diag::Kind::unknown_name, import.path->range,
           fmt::format("there is no module `{}`", import.path->to_string()))
        .help("write `import std.nn.{...};` for the standard library, or `import \"file.dtj\" as name;` for a file");
    return poison_names();
  }
  ScopePtr found = library(parts[1].text, parts[1].range);
  if (!found) return poison_names();
  const std::string name = "std." + parts[1].text;
  if (parts.size() == 3) return import_selected(import, name, {parts[2]}, found, scope);
  if (!import.selected.empty()) return import_selected(import, name, import.selected, found, scope);
  define(scope, import.alias ? *import.alias : parts[1], {Namespace{name, found}, {}});
}

ScopePtr Interpreter::import_file(const ast::ImportDecl& import, const ast::File& file) {
  if (!imports_) {
    own_imports_ = std::make_unique<ImportFiles>(file, sources, std::vector<std::string>{}, *sink);
    imports_ = own_imports_.get();
  }
  const ast::File* other = imports_->find(import);
  return other ? declare(*other) : nullptr;
}

}  // namespace dtj::check
