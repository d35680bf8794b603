#pragma once

#include <vector>

#include "compiler/check/sections.hpp"

namespace dtj::check {

/// The value of one setting in the form that `Entry` promises; Poison when it does not suit the key, which is reported.
Value read_entry(const ast::Setting& setting, const KeySchema& key, const ReadContext& context);

/// The same for an expression.
Value read_value(const ast::Expr& expr, const KeySchema& key, const ReadContext& context);

/// The arguments of a word that takes some, each read like a setting. Unknown and repeated ones are reported.
std::vector<Entry> read_arguments(const ast::Setting& setting, const KeySchema& key, const ReadContext& context);

/// Warns of a literal path in a home folder anywhere in an expression.
void warn_of_home_paths(const ast::Expr& expr, diag::Sink& sink);

}  // namespace dtj::check
