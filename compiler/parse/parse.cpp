#include "compiler/parse/parse.hpp"

#include <fmt/format.h>

#include "compiler/parse/builder.hpp"
#include "compiler/parse/byte_stream.hpp"
#include "compiler/parse/error_strategy.hpp"
#include "compiler/parse/mend.hpp"
#include "compiler/parse/nesting.hpp"
#include "grammar/DtjLexer.h"

namespace dtj::parse {
namespace {

using diag::Kind;
using grammar::DtjLexer;
using source::Range;

constexpr std::size_t max_bytes = std::size_t{16} << 20;
constexpr std::size_t max_tokens = 1'000'000;

void report_deep_nesting(const Token& token, const source::SourceFile& file, diag::Sink& sink) {
  sink.report({Kind::nesting_too_deep, range_of(token, file.id()),
               fmt::format("brackets and operators nest deeper than {} levels here", max_nesting)})
      .help("name a part of it with `let` or `const`");
}

/// All tokens, the end of the file included; nothing if there are too many.
std::vector<TokenPtr> lex(DtjLexer& lexer, const source::SourceFile& file, diag::Sink& sink) {
  lexer.removeErrorListeners();
  std::vector<TokenPtr> tokens;
  do {
    tokens.push_back(lexer.nextToken());
    if (tokens.size() > max_tokens) {
      sink.report({Kind::too_large, range_of(*tokens.back(), file.id()),
                   fmt::format("the file has more than {} words and signs", max_tokens)});
      return {};
    }
  } while (tokens.back()->getType() != Token::EOF);
  return tokens;
}

/// Sound files take the fast way: prediction without context, and no error messages.
DtjParser::FileContext* parse_fast(DtjParser& parser) {
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    return parser.file();
  } catch (const TooDeep&) {
    throw;
  } catch (const antlr4::ParseCancellationException&) {
    return nullptr;
  }
}

DtjParser::FileContext* parse_thoroughly(DtjParser& parser, TokenStream& tokens, const source::SourceFile& file,
                                         diag::Sink& sink) {
  parser.reset();
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::LL);
  parser.setErrorHandler(std::make_shared<ErrorStrategy>(file, sink, tokens));
  try {
    return parser.file();
  } catch (const TooManyErrors&) {
    return nullptr;
  }
}

std::unique_ptr<ast::File> parse_tokens(std::vector<TokenPtr> list, const source::SourceFile& file, diag::Sink& sink) {
  antlr4::ListTokenSource source(std::move(list));
  TokenStream tokens(&source);
  DtjParser parser(&tokens);
  parser.removeErrorListeners();
  try {
    DepthGuard fast_guard;
    parser.addParseListener(&fast_guard);
    DtjParser::FileContext* tree = parse_fast(parser);
    parser.removeParseListeners();
    DepthGuard thorough_guard;
    parser.addParseListener(&thorough_guard);
    if (tree == nullptr) tree = parse_thoroughly(parser, tokens, file, sink);
    return Builder(file, sink).build(tree);
  } catch (const TooDeep&) {
    report_deep_nesting(*parser.getCurrentToken(), file, sink);
    return Builder(file, sink).build(nullptr);
  }
}

std::unique_ptr<ast::File> parse_text(const source::SourceFile& file, diag::Sink& sink) {
  const auto nothing = [&] { return Builder(file, sink).build(nullptr); };
  if (file.text().size() > max_bytes) {
    sink.report({Kind::too_large, Range::of(file.id(), 0, 0), "the file is larger than 16 MiB"});
    return nothing();
  }
  ByteStream bytes(file.text());
  DtjLexer lexer(&bytes);
  std::vector<TokenPtr> tokens = lex(lexer, file, sink);
  if (tokens.empty()) return nothing();
  tokens = mend(std::move(tokens), file, sink);
  if (const Token* deep = find_deep_nesting(tokens)) {
    report_deep_nesting(*deep, file, sink);
    return nothing();
  }
  return parse_tokens(std::move(tokens), file, sink);
}

}  // namespace

std::unique_ptr<ast::File> parse(const source::SourceFile& file, diag::Sink& sink) {
  try {
    return parse_text(file, sink);
  } catch (const antlr4::RuntimeException& error) {
    sink.report({Kind::syntax_error, Range::of(file.id(), 0, 0),
                 fmt::format("the parser gave up on this file ({})", error.what())});
    auto nothing = std::make_unique<ast::File>();
    nothing->id = file.id();
    return nothing;
  }
}

}  // namespace dtj::parse
