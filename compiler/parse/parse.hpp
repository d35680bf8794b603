#pragma once

#include <memory>

#include "compiler/ast/ast.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::parse {

/// Builds the tree of a file. Syntax errors go to the sink in the language's own words; the tree holds what could be
/// recovered. Never throws; nesting deeper than 256 and files over 16 MiB are diagnosed.
std::unique_ptr<ast::File> parse(const source::SourceFile& file, diag::Sink& sink);

}  // namespace dtj::parse
