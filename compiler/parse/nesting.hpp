#pragma once

#include <antlr4-runtime.h>

#include <optional>
#include <vector>

#include "compiler/parse/token_list.hpp"

namespace dtj::parse {

/// Brackets within brackets plus operators in a row that one place of a file may have.
constexpr std::size_t max_nesting = 256;

/// The first token where a tree over `tokens` could be deeper than `max_nesting`: every open bracket counts, and so
/// does every operator, call, `if` and `else` since the last separator on its level.
const Token* find_deep_nesting(const std::vector<TokenPtr>& tokens);

/// Thrown by DepthGuard; no RecognitionException, so that the generated code lets it pass.
struct TooDeep : antlr4::ParseCancellationException {};

/// Counts the rules that are open, and throws before they can fill the stack: recovery from errors may see brackets
/// otherwise than find_deep_nesting does.
class DepthGuard final : public antlr4::tree::ParseTreeListener {
 public:
  void enterEveryRule(antlr4::ParserRuleContext*) override {
    if (++depth_ > max_depth) throw TooDeep();
  }
  void exitEveryRule(antlr4::ParserRuleContext*) override { --depth_; }
  void visitTerminal(antlr4::tree::TerminalNode*) override {}
  void visitErrorNode(antlr4::tree::ErrorNode*) override {}

 private:
  static constexpr std::size_t max_depth = 10 * max_nesting;
  std::size_t depth_ = 0;
};

}  // namespace dtj::parse
