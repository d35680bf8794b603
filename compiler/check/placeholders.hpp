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

/// The placeholders of a job file and its imports, one per name. `values` holds those that have one (Poison: the one
/// given was wrong, and is reported; a secret is opaque, with or without a value).
struct Placeholders {
  std::map<std::string, Value> values;
  std::vector<PlaceholderInfo> infos;
  std::map<std::string, const ast::BindDecl*> declarations;  ///< the one that counts: of the file that comes first
};

/// The value of each `bind` from the `--bind` texts, else from the site profile, else from its default, which is a
/// literal. The job file comes first in `files`; a name that another file declares too must have the same type there.
/// Unknown `--bind` names, texts and defaults of the wrong type are errors that name them.
Placeholders bind_placeholders(const std::vector<const ast::File*>& files, const CheckOptions& options, diag::Sink& sink);

/// The `where` conditions of the placeholders that have a value.
void check_conditions(const ast::File& file, const Placeholders& placeholders, Evaluator& evaluator,
                      const std::shared_ptr<Scope>& scope, diag::Sink& sink);

/// Notes a placeholder without a value (N901).
void note_unbound(const ast::BindDecl& decl, diag::Sink& sink);

/// The text of a placeholder type's value as a Value. None: the text is not one.
std::optional<Value> parse_binding(std::string_view type, const std::string& text);

}  // namespace dtj::check
