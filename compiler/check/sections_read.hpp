#pragma once

#include "compiler/check/sections.hpp"

namespace dtj::check {

/// The value of one setting in the form that `Entry` promises; Poison when it does not suit the key, which is reported.
Value read_entry(const ast::Setting& setting, const KeySchema& key, const ReadContext& context);

/// Warns of a literal path in a home folder anywhere in an expression.
void warn_of_home_paths(const ast::Expr& expr, diag::Sink& sink);

}  // namespace dtj::check
