#pragma once

#include <antlr4-runtime.h>

#include <memory>
#include <vector>

#include "compiler/source/source.hpp"

namespace dtj::parse {

using antlr4::Token;
using TokenPtr = std::unique_ptr<antlr4::Token>;

/// Bytes of a token; a token that recovery made up covers none.
source::Range range_of(const Token& token, source::FileId file);
/// Nothing, just after `token`: where something is missing.
source::Range after(const Token& token, source::FileId file);
/// Bytes of the text that a token covers.
std::string_view text_of(const Token& token, const source::SourceFile& file);
/// Was it made up by recovery?
bool is_made_up(const Token& token);

bool is_opener(std::size_t type);
bool is_closer(std::size_t type);
/// The bracket that closes `opener`.
std::size_t closer_of(std::size_t opener);
/// A word of the language: `in`, `module`, ...
bool is_word(std::size_t type);
/// A token that can begin a value, and nothing that could go on from one.
bool starts_value(std::size_t type);
/// A word that opens a declaration, in the first column: the text before it has ended, whatever is missing.
bool starts_declaration(const Token& token);

/// All tokens of a file; recovery can put one in.
class TokenStream final : public antlr4::CommonTokenStream {
 public:
  explicit TokenStream(antlr4::TokenSource* source) : CommonTokenStream(source) { fill(); }
  /// The new token is the next one.
  void insert(TokenPtr token);
};

}  // namespace dtj::parse
