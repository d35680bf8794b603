#include "compiler/parse/token_list.hpp"

#include <algorithm>
#include <gsl/gsl>

#include "grammar/DtjLexer.h"

namespace dtj::parse {

using grammar::DtjLexer;
using source::Range;

bool is_made_up(const Token& token) { return token.getStartIndex() == INVALID_INDEX; }

Range range_of(const Token& token, source::FileId file) {
  if (is_made_up(token)) return {};
  const auto begin = gsl::narrow<std::uint32_t>(token.getStartIndex());
  // The stop index of the end of the file is the byte before its start.
  const auto end = token.getType() == Token::EOF ? begin : gsl::narrow<std::uint32_t>(token.getStopIndex() + 1);
  return Range::of(file, begin, std::max(begin, end));
}

Range after(const Token& token, source::FileId file) {
  const Range range = range_of(token, file);
  return range.is_none ? range : Range::of(file, range.end, range.end);
}

std::string_view text_of(const Token& token, const source::SourceFile& file) {
  return file.slice(range_of(token, file.id()));
}

bool is_opener(std::size_t type) {
  return type == DtjLexer::LBRACE || type == DtjLexer::LPAREN || type == DtjLexer::LBRACK;
}

bool is_closer(std::size_t type) {
  return type == DtjLexer::RBRACE || type == DtjLexer::RPAREN || type == DtjLexer::RBRACK;
}

std::size_t closer_of(std::size_t opener) {
  Expects(is_opener(opener));
  if (opener == DtjLexer::LBRACE) return DtjLexer::RBRACE;
  return opener == DtjLexer::LPAREN ? DtjLexer::RPAREN : DtjLexer::RBRACK;
}

bool is_word(std::size_t type) { return type >= DtjLexer::DTJ && type <= DtjLexer::SELF; }

bool starts_value(std::size_t type) {
  switch (type) {
    case DtjLexer::INT:
    case DtjLexer::FLOAT:
    case DtjLexer::QUANTITY:
    case DtjLexer::STRING:
    case DtjLexer::PLACEHOLDER:
    case DtjLexer::IDENT:
    case DtjLexer::TRUE:
    case DtjLexer::FALSE:
    case DtjLexer::NONE:
    case DtjLexer::SELF:
    case DtjLexer::NOT: return true;
    default: return false;
  }
}

bool starts_declaration(const Token& token) {
  if (token.getCharPositionInLine() != 0 || is_made_up(token)) return false;
  switch (token.getType()) {
    case DtjLexer::IMPORT:
    case DtjLexer::BIND:
    case DtjLexer::CONST:
    case DtjLexer::DIM:
    case DtjLexer::RECORD:
    case DtjLexer::ENUM:
    case DtjLexer::MODULE:
    case DtjLexer::FN:
    case DtjLexer::JOB:
    case DtjLexer::TEST: return true;
    default: return false;
  }
}

void TokenStream::insert(TokenPtr token) {
  _tokens.insert(_tokens.begin() + static_cast<std::ptrdiff_t>(_p), std::move(token));
  for (std::size_t i = _p; i < _tokens.size(); ++i) {
    static_cast<antlr4::CommonToken&>(*_tokens[i]).setTokenIndex(i);
  }
}

}  // namespace dtj::parse
