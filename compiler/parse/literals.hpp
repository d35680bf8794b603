#pragma once

#include <string_view>

#include "compiler/ast/ast.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::parse {

/// Nodes for the spelling of a literal at `range`. What no number can hold is reported and becomes an ErrorExpr.
ast::Expr::Node decode_int(std::string_view spelling, source::Range range, diag::Sink& sink);
ast::Expr::Node decode_float(std::string_view spelling, source::Range range, diag::Sink& sink);
ast::Expr::Node decode_quantity(std::string_view spelling, source::Range range, diag::Sink& sink);

/// The text between the quotes, with `\n`, `\t`, `\"` and `\\` decoded. Other escapes are reported and kept as written.
std::string decode_string(std::string_view spelling, source::Range range, diag::Sink& sink);

}  // namespace dtj::parse
