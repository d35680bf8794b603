#pragma once

#include <antlr4-runtime.h>

#include <set>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/token_list.hpp"

namespace dtj::parse {

/// Thrown after `max_syntax_errors`: the rest would be noise.
struct TooManyErrors : antlr4::ParseCancellationException {};

/// Reports syntax errors, and finds the place where the next sound piece of text begins. It goes on from a missing `;`,
/// `,` or bracket as if it were there; else it skips to the end of the setting or statement, brackets as a whole.
class ErrorStrategy final : public antlr4::DefaultErrorStrategy {
 public:
  ErrorStrategy(const source::SourceFile& file, diag::Sink& sink, TokenStream& tokens)
      : file_(file), sink_(sink), tokens_(tokens) {}

  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 protected:
  void reportMissingToken(antlr4::Parser* parser) override;
  void reportUnwantedToken(antlr4::Parser* parser) override;

 private:
  void complain(antlr4::Parser* parser, const Token* found, const antlr4::misc::IntervalSet& expected);
  bool is_on_later_line(antlr4::Parser* parser) const;
  const Token* find_opener() const;
  /// Is there a `closer` ahead that closes the innermost open bracket, before the statement ends?
  bool closes_ahead(std::size_t closer) const;
  /// Was something dropped and reported just before `found`?
  bool follows_dropped_text(const Token* previous, const Token* found) const;
  /// Consumes until `stop(token)`, a closing bracket that an open rule waits for, a declaration or the end; brackets as
  /// a whole.
  template <class Stop>
  void skip(antlr4::Parser* parser, Stop stop);
  void skip_item(antlr4::Parser* parser);
  bool mend_loop(antlr4::Parser* parser, const antlr4::misc::IntervalSet& expected);
  void insert(std::size_t type);

  const source::SourceFile& file_;
  diag::Sink& sink_;
  TokenStream& tokens_;
  std::size_t num_errors_ = 0;
  std::size_t last_recovery_ = 0;                ///< index of the token
  std::set<std::size_t> last_recovery_states_;  ///< of the parser, at that token
};

}  // namespace dtj::parse
