#include "compiler/parse/nesting.hpp"

#include "grammar/DtjLexer.h"

namespace dtj::parse {
namespace {

using grammar::DtjLexer;

enum class Effect { none, deeper, open, close, separate };

Effect effect_of(std::size_t type) {
  switch (type) {
    case DtjLexer::LBRACE:
    case DtjLexer::LPAREN:
    case DtjLexer::LBRACK: return Effect::open;
    case DtjLexer::RBRACE:
    case DtjLexer::RPAREN:
    case DtjLexer::RBRACK: return Effect::close;
    // Words that cannot stand in an expression; a word that may be a name would let a chain hide.
    case DtjLexer::SEMI:
    case DtjLexer::COMMA:
    case DtjLexer::IMPORT:
    case DtjLexer::CONST:
    case DtjLexer::MODULE:
    case DtjLexer::FN:
    case DtjLexer::JOB:
    case DtjLexer::LET:
    case DtjLexer::MUT:
    case DtjLexer::FOR:
    case DtjLexer::RETURN: return Effect::separate;
    case DtjLexer::IF:
    case DtjLexer::ELSE:
    case DtjLexer::AS:
    case DtjLexer::AND:
    case DtjLexer::OR:
    case DtjLexer::NOT:
    case DtjLexer::DIV:
    case DtjLexer::DIVIDES: return Effect::deeper;
    default: return type >= DtjLexer::DOT && type <= DtjLexer::AT ? Effect::deeper : Effect::none;
  }
}

}  // namespace

const Token* find_deep_nesting(const std::vector<TokenPtr>& tokens) {
  struct Level {
    std::size_t closer;
    std::size_t operators;
  };
  std::vector<Level> levels = {{Token::EOF, 0}};
  std::size_t depth = 0;  // open brackets and their operators
  for (const TokenPtr& token : tokens) {
    const std::size_t type = token->getType();
    switch (effect_of(type)) {
      case Effect::none: break;
      case Effect::separate:
        depth -= levels.back().operators;
        levels.back().operators = 0;
        break;
      case Effect::open:
        levels.push_back({closer_of(type), 0});
        depth += 1;
        break;
      case Effect::deeper:
        levels.back().operators += 1;
        depth += 1;
        break;
      case Effect::close:
        if (levels.back().closer != type) break;
        depth -= levels.back().operators + 1;
        levels.pop_back();
        // A call or a subscript goes on counting, as an operator.
        if (type != DtjLexer::RBRACE) {
          levels.back().operators += 1;
          depth += 1;
        }
        break;
    }
    if (depth > max_nesting) return token.get();
  }
  return nullptr;
}

}  // namespace dtj::parse
