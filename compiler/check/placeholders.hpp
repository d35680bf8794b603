#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/check.hpp"
#include "compiler/check/value.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::check {

class Evaluator;

/// The placeholders of a file. `values` holds those that have one (Poison: the one given was wrong, and is reported).
struct Placeholders {
  std::map<std::string, Value> values;
  std::vector<PlaceholderInfo> infos;
};

/// The value of each `bind` from the `--bind` texts, else from its default, which is a literal. A placeholder without
/// either is noted (N901). Unknown `--bind` names, texts and defaults of the wrong type are errors that name them.
Placeholders bind_placeholders(const ast::File& file, const std::map<std::string, std::string>& bindings, diag::Sink& sink);

/// The `where` conditions of the placeholders that have a value.
void check_conditions(const ast::File& file, const Placeholders& placeholders, Evaluator& evaluator,
                      const std::shared_ptr<Scope>& scope, diag::Sink& sink);

/// The text of a placeholder type's value as a Value. None: the text is not one.
std::optional<Value> parse_binding(std::string_view type, const std::string& text);

}  // namespace dtj::check
