#include "compiler/parse/error_strategy.hpp"

#include "compiler/parse/complaint.hpp"
#include "grammar/DtjLexer.h"
#include "grammar/DtjParser.h"

namespace dtj::parse {
namespace {

using antlr4::Parser;
using antlr4::misc::IntervalSet;
using grammar::DtjLexer;
using grammar::DtjParser;

constexpr std::size_t max_syntax_errors = 100;
constexpr std::size_t no_index = INVALID_INDEX;

/// Rules that take their own `;` (or body): recovery goes to the end of the whole item.
bool owns_its_end(std::size_t rule) {
  switch (rule) {
    case DtjParser::RuleImportDecl:
    case DtjParser::RuleBindDecl:
    case DtjParser::RuleConstDecl:
    case DtjParser::RuleDimDecl:
    case DtjParser::RuleRecordDecl:
    case DtjParser::RuleRecordField:
    case DtjParser::RuleEnumDecl:
    case DtjParser::RuleModuleDecl:
    case DtjParser::RuleModuleItem:
    case DtjParser::RuleStateDecl:
    case DtjParser::RuleSubDecl:
    case DtjParser::RuleFnDecl:
    case DtjParser::RuleJobDecl:
    case DtjParser::RuleJobItem:
    case DtjParser::RuleSection:
    case DtjParser::RuleSectionItem:
    case DtjParser::RuleSetting:
    case DtjParser::RuleTestDecl:
    case DtjParser::RuleTopDecl: return true;
    default: return false;
  }
}

/// Signs where an inner rule may be left; a name or an operator is no sure sign that something new begins.
bool is_landmark(std::size_t type) {
  switch (type) {
    case DtjLexer::SEMI:
    case DtjLexer::COMMA:
    case DtjLexer::ASSIGN:
    case DtjLexer::COLON:
    case DtjLexer::LBRACE:
    case DtjLexer::ARROW:
    case DtjLexer::WHERE:
    case DtjLexer::WHEN:
    case DtjLexer::ELSE:
    case DtjLexer::LET:
    case DtjLexer::MUT:
    case DtjLexer::FOR:
    case DtjLexer::RETURN: return true;
    default: return is_closer(type);
  }
}

IntervalSet expected_of(Parser* parser) { return parser->getExpectedTokens(); }

bool has(const IntervalSet& set, std::size_t type) { return set.contains(type); }

}  // namespace

void ErrorStrategy::complain(Parser* parser, const Token* found, const IntervalSet& expected) {
  if (inErrorRecoveryMode(parser)) return;
  beginErrorCondition(parser);
  if (++num_errors_ > max_syntax_errors) throw TooManyErrors();
  const std::size_t index = found->getTokenIndex();
  Complaint complaint;
  complaint.found = found;
  for (std::size_t i = index; i > 0 && complaint.previous == nullptr; --i) {
    const Token* before = tokens_.get(i - 1);
    if (!is_made_up(*before)) complaint.previous = before;
  }
  complaint.rule = parser->getContext()->getRuleIndex();
  complaint.expected = expected;
  if (follows_dropped_text(complaint.previous, found)) return;
  complaint.opener = find_opener();
  complaint.closes_ahead = complaint.opener != nullptr && closes_ahead(closer_of(complaint.opener->getType()));
  complaint.vocabulary = &parser->getVocabulary();
  sink_.report(phrase(complaint, file_));
}

bool ErrorStrategy::follows_dropped_text(const Token* previous, const Token* found) const {
  if (previous == nullptr || found->getType() == Token::EOF || is_made_up(*found)) return false;
  const auto end = static_cast<std::uint32_t>(previous->getStopIndex() + 1);
  const auto begin = static_cast<std::uint32_t>(found->getStartIndex());
  const std::string_view between = file_.slice(source::Range::of(file_.id(), end, begin));
  const bool has_comment = between.find('/') != std::string_view::npos;
  return !has_comment && between.find_first_not_of(" \t\r\n") != std::string_view::npos;
}

void ErrorStrategy::reportError(Parser* parser, const antlr4::RecognitionException& error) {
  complain(parser, error.getOffendingToken(), error.getExpectedTokens());
}

void ErrorStrategy::reportMissingToken(Parser* parser) {
  complain(parser, parser->getCurrentToken(), expected_of(parser));
}

void ErrorStrategy::reportUnwantedToken(Parser* parser) {
  complain(parser, parser->getCurrentToken(), expected_of(parser));
}

bool ErrorStrategy::is_on_later_line(Parser* parser) const {
  const Token* previous = tokens_.index() == 0 ? nullptr : tokens_.get(tokens_.index() - 1);
  return previous != nullptr && parser->getCurrentToken()->getLine() > previous->getLine();
}

const Token* ErrorStrategy::find_opener() const {
  std::size_t depth = 0;
  for (std::size_t i = tokens_.index(); i > 0; --i) {
    const Token* token = tokens_.get(i - 1);
    if (is_closer(token->getType())) ++depth;
    if (is_opener(token->getType()) && depth-- == 0) return token;
  }
  return nullptr;
}

bool ErrorStrategy::closes_ahead(std::size_t closer) const {
  std::size_t depth = 0;
  for (std::size_t i = tokens_.index();; ++i) {
    const Token* token = tokens_.get(i);
    const std::size_t type = token->getType();
    if (type == Token::EOF || starts_declaration(*token)) return false;
    if (depth == 0 && type == DtjLexer::SEMI) return false;
    if (is_opener(type)) ++depth;
    if (is_closer(type) && depth-- == 0) return type == closer;
  }
}

template <class Stop>
void ErrorStrategy::skip(Parser* parser, Stop stop) {
  const IntervalSet follow = getErrorRecoverySet(parser);
  std::size_t depth = 0;
  while (true) {
    const Token& token = *parser->getCurrentToken();
    const std::size_t type = token.getType();
    if (type == Token::EOF || starts_declaration(token)) return;
    if (depth == 0 && stop(token)) return;
    if (is_closer(type)) {
      // One that nothing waits for is passed over; `}` is too strong a sign for that.
      if (depth == 0 && (type == DtjLexer::RBRACE || has(follow, type))) return;
      if (depth > 0) --depth;
    }
    if (is_opener(type)) ++depth;
    parser->consume();
  }
}

void ErrorStrategy::skip_item(Parser* parser) {
  bool is_after_body = false;
  skip(parser, [&](const Token& token) {
    if (is_after_body && token.getType() != DtjLexer::ELSE && is_on_later_line(parser)) return true;
    const Token* previous = tokens_.index() == 0 ? nullptr : tokens_.get(tokens_.index() - 1);
    is_after_body = token.getType() == DtjLexer::LBRACE || (previous != nullptr && previous->getType() == DtjLexer::RBRACE);
    return token.getType() == DtjLexer::SEMI;
  });
  if (parser->getCurrentToken()->getType() == DtjLexer::SEMI) parser->consume();
  // What follows is a new item, with mistakes of its own.
  if (parser->getCurrentToken()->getType() != DtjLexer::RBRACE) endErrorCondition(parser);
}

void ErrorStrategy::recover(Parser* parser, std::exception_ptr) {
  const Token& found = *parser->getCurrentToken();
  if (last_recovery_ != tokens_.index()) last_recovery_states_.clear();
  last_recovery_ = tokens_.index();
  // The same error at the same place: step over it, or it would come for ever.
  const bool is_new = last_recovery_states_.insert(parser->getState()).second;
  if (!is_new && found.getType() != Token::EOF) parser->consume();
  const std::size_t rule = parser->getContext()->getRuleIndex();
  if (owns_its_end(rule)) return skip_item(parser);
  // A reserved word stands where a name was meant.
  if (rule == DtjParser::RuleName && is_word(found.getType()) && !starts_declaration(found)) {
    parser->consume();
    return;
  }
  const IntervalSet follow = getErrorRecoverySet(parser);
  skip(parser, [&](const Token& token) { return is_landmark(token.getType()) && has(follow, token.getType()); });
}

void ErrorStrategy::insert(std::size_t type) {
  auto token = std::make_unique<antlr4::CommonToken>(type);
  const Token* next = tokens_.LT(1);
  token->setStartIndex(no_index);
  token->setStopIndex(no_index);
  token->setLine(next->getLine());
  token->setCharPositionInLine(next->getCharPositionInLine());
  tokens_.insert(std::move(token));
}

Token* ErrorStrategy::recoverInline(Parser* parser) {
  const IntervalSet expected = expected_of(parser);
  const std::size_t found = parser->getCurrentToken()->getType();
  const std::size_t after = tokens_.LA(2);
  if (has(expected, DtjLexer::SEMI) && !has(expected, DtjLexer::LBRACE)) {
    complain(parser, parser->getCurrentToken(), expected);
    const bool begins_anew = is_on_later_line(parser) || after == DtjLexer::ASSIGN || after == DtjLexer::LBRACE;
    if (found == DtjLexer::COMMA) {
      parser->consume();
    } else if (!begins_anew) {
      skip(parser, [&](const Token& token) { return token.getType() == DtjLexer::SEMI || is_on_later_line(parser); });
    }
    if (parser->getCurrentToken()->getType() != DtjLexer::SEMI) insert(DtjLexer::SEMI);
    Token* semicolon = parser->getCurrentToken();
    parser->consume();
    return semicolon;
  }
  for (const std::size_t closer : {DtjLexer::RPAREN, DtjLexer::RBRACK, DtjLexer::RBRACE}) {
    if (!has(expected, closer)) continue;
    complain(parser, parser->getCurrentToken(), expected);
    if (closes_ahead(closer)) skip(parser, [](const Token&) { return false; });
    if (parser->getCurrentToken()->getType() != closer) insert(closer);
    Token* token = parser->getCurrentToken();
    parser->consume();
    return token;
  }
  if (has(expected, DtjLexer::LBRACE) && found == DtjLexer::ASSIGN) {
    // `if a = b {`
    complain(parser, parser->getCurrentToken(), expected);
    skip(parser, [&](const Token& token) {
      return token.getType() == DtjLexer::LBRACE || token.getType() == DtjLexer::SEMI || is_on_later_line(parser);
    });
    if (parser->getCurrentToken()->getType() != DtjLexer::LBRACE) throw antlr4::InputMismatchException(parser);
    Token* brace = parser->getCurrentToken();
    parser->consume();
    return brace;
  }
  const bool takes_other_sign = has(expected, DtjLexer::ASSIGN) && (found == DtjLexer::COLON || found == DtjLexer::EQ);
  if (takes_other_sign) {
    complain(parser, parser->getCurrentToken(), expected);
    parser->consume();
    insert(DtjLexer::ASSIGN);
    Token* token = parser->getCurrentToken();
    parser->consume();
    return token;
  }
  const bool may_drop = !is_opener(found) && !is_closer(found) && found != DtjLexer::SEMI;
  if (may_drop && has(expected, after)) {
    complain(parser, parser->getCurrentToken(), expected);
    parser->consume();
    Token* token = parser->getCurrentToken();
    parser->consume();
    return token;
  }
  // Not getMissingSymbol: it copies the source of a neighbour, and a token that was put in before has none.
  const IntervalSet missing = expected_of(parser);
  if (missing.isEmpty() || missing.getMinElement() <= 0 || !singleTokenInsertion(parser)) {
    throw antlr4::InputMismatchException(parser);
  }
  insert(static_cast<std::size_t>(missing.getMinElement()));
  Token* token = parser->getCurrentToken();
  parser->consume();
  return token;
}

/// A list or a block goes on as if the missing `,`, `;` or closing bracket were there.
bool ErrorStrategy::mend_loop(Parser* parser, const IntervalSet& expected) {
  const Token& found = *parser->getCurrentToken();
  const bool is_value = starts_value(found.getType());
  if (has(expected, DtjLexer::INT)) return false;
  if (has(expected, DtjLexer::SEMI)) {
    const bool begins_anew = is_value || is_word(found.getType()) || is_opener(found.getType());
    if (!begins_anew || starts_declaration(found)) return false;
    insert(DtjLexer::SEMI);
    return true;
  }
  for (const std::size_t closer : {DtjLexer::RPAREN, DtjLexer::RBRACK, DtjLexer::RBRACE}) {
    if (!has(expected, closer) || !has(expected, DtjLexer::COMMA)) continue;
    if (closes_ahead(closer)) {
      if (!is_value) return false;
      insert(DtjLexer::COMMA);
    } else {
      insert(closer);
    }
    return true;
  }
  return false;
}

void ErrorStrategy::sync(Parser* parser) {
  using antlr4::atn::ATNState;
  if (inErrorRecoveryMode(parser)) return;
  ATNState* state = parser->getInterpreter<antlr4::atn::ATNSimulator>()->atn.states[parser->getState()];
  const std::size_t found = tokens_.LA(1);
  const IntervalSet next = parser->getATN().nextTokens(state);
  if (has(next, Token::EPSILON) || has(next, found)) return;
  switch (state->getStateType()) {
    case ATNState::BLOCK_START:
    case ATNState::STAR_BLOCK_START:
    case ATNState::PLUS_BLOCK_START: throw antlr4::InputMismatchException(parser);
    case ATNState::STAR_LOOP_ENTRY:
    case ATNState::STAR_LOOP_BACK:
    case ATNState::PLUS_LOOP_BACK: {
      IntervalSet expected = expected_of(parser);
      reportUnwantedToken(parser);
      if (mend_loop(parser, expected)) return;
      expected.addAll(getErrorRecoverySet(parser));
      const std::size_t start = tokens_.index();
      skip(parser, [&](const Token& token) { return has(expected, token.getType()); });
      // A bracket that closes nothing, outside of all declarations.
      const Token& stopped = *parser->getCurrentToken();
      if (tokens_.index() == start && is_closer(stopped.getType()) && !has(expected, stopped.getType())) {
        parser->consume();
      }
      if (tokens_.index() != start && is_on_later_line(parser)) endErrorCondition(parser);
      return;
    }
    default: return;
  }
}

}  // namespace dtj::parse
