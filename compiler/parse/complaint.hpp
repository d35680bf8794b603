#pragma once

#include <antlr4-runtime.h>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/token_list.hpp"

namespace dtj::parse {

/// A syntax error as the parser sees it.
struct Complaint {
  const Token* previous = nullptr;  ///< null at the start of the file
  const Token* found = nullptr;
  std::size_t rule = 0;  ///< DtjParser::Rule..., the innermost open rule
  antlr4::misc::IntervalSet expected;
  const Token* opener = nullptr;  ///< the innermost open bracket, if any
  bool closes_ahead = false;      ///< is `opener` closed before the statement ends?
  const antlr4::dfa::Vocabulary* vocabulary = nullptr;
};

/// Says it in the language's own words, at the narrowest range.
diag::Diagnostic phrase(const Complaint& complaint, const source::SourceFile& file);

}  // namespace dtj::parse
