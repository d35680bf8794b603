#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source.hpp"

// The lexer without the grammar's types, for tools that work on words and signs: formatter, editors, completion.

namespace dtj::parse {

enum class LexemeKind : std::uint8_t {
  word,  ///< of the language: `module`, `if`
  name,
  placeholder,  ///< `<data>`, brackets included
  number,       ///< integer or fraction
  quantity,     ///< `30min`
  string,
  sign,
  line_comment,
  block_comment,
  mistake,  ///< a character or an open string or comment that no rule takes
};

struct Lexeme {
  LexemeKind kind;
  source::Range range;
};

/// Everything but white space, in order. Nothing where the lexer gives up.
std::vector<Lexeme> read_lexemes(const source::SourceFile& file);

/// The words of the language in the order of the grammar, and its signs.
std::vector<std::string> language_words();
std::vector<std::string> language_signs();
/// Words that are names where no declaration or condition begins.
bool may_be_name(std::string_view word);

}  // namespace dtj::parse
