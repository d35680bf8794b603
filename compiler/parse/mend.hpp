#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/token_list.hpp"

namespace dtj::parse {

/// Reports what is wrong below the level of the grammar, and mends it so that the parser meets only sound tokens:
/// unknown characters, open strings and comments, units apart from their number, misspelt placeholders, the edition.
/// `tokens` ends with the end of the file; hidden tokens are left out of the result.
std::vector<TokenPtr> mend(std::vector<TokenPtr> tokens, const source::SourceFile& file, diag::Sink& sink);

/// `30 min` and `500 steps` as they should be written: "30min", "500step".
std::string join_quantity(std::string_view spelling);

}  // namespace dtj::parse
