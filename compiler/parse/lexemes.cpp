#include "compiler/parse/lexemes.hpp"

#include <algorithm>
#include <array>

#include "compiler/parse/byte_stream.hpp"
#include "compiler/parse/token_list.hpp"
#include "grammar/DtjLexer.h"

namespace dtj::parse {
namespace {

using grammar::DtjLexer;

LexemeKind kind_of(std::size_t type) {
  if (is_word(type)) return LexemeKind::word;
  switch (type) {
    case DtjLexer::IDENT: return LexemeKind::name;
    case DtjLexer::PLACEHOLDER: return LexemeKind::placeholder;
    case DtjLexer::INT:
    case DtjLexer::FLOAT: return LexemeKind::number;
    case DtjLexer::QUANTITY: return LexemeKind::quantity;
    case DtjLexer::STRING: return LexemeKind::string;
    case DtjLexer::LINE_COMMENT: return LexemeKind::line_comment;
    case DtjLexer::BLOCK_COMMENT: return LexemeKind::block_comment;
    case DtjLexer::OPEN_STRING:
    case DtjLexer::OPEN_COMMENT:
    case DtjLexer::UNKNOWN: return LexemeKind::mistake;
    default: return LexemeKind::sign;
  }
}

/// The spellings of the rules first..last, which are fixed words or signs.
std::vector<std::string> literals(std::size_t first, std::size_t last) {
  ByteStream nothing("");
  DtjLexer lexer(&nothing);
  std::vector<std::string> spellings;
  for (std::size_t type = first; type <= last; ++type) {
    const std::string quoted = lexer.getVocabulary().getLiteralName(type);
    spellings.push_back(quoted.substr(1, quoted.size() - 2));
  }
  return spellings;
}

}  // namespace

std::vector<Lexeme> read_lexemes(const source::SourceFile& file) {
  std::vector<Lexeme> lexemes;
  try {
    ByteStream bytes(file.text());
    DtjLexer lexer(&bytes);
    lexer.removeErrorListeners();
    for (TokenPtr token = lexer.nextToken(); token->getType() != Token::EOF; token = lexer.nextToken()) {
      lexemes.push_back({kind_of(token->getType()), range_of(*token, file.id())});
    }
  } catch (const antlr4::RuntimeException&) {
    lexemes.clear();
  }
  return lexemes;
}

std::vector<std::string> language_words() { return literals(DtjLexer::DTJ, DtjLexer::SELF); }
std::vector<std::string> language_signs() { return literals(DtjLexer::LBRACE, DtjLexer::AT); }

bool may_be_name(std::string_view word) {
  // As the rule `name` of the grammar has them.
  static constexpr std::array<std::string_view, 12> words = {"bind",  "dim", "record",  "enum", "param", "buffer",
                                                             "state", "sub", "extends", "test", "where", "when"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace dtj::parse
