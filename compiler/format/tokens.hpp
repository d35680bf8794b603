#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/parse/lexemes.hpp"
#include "compiler/source/source.hpp"

namespace dtj::format {

using parse::LexemeKind;

enum class Break : std::uint8_t { none, line, blank };

/// What a bracket holds. block: statements, settings or declarations; list: things with commas between; dims: what follows
/// a name in square brackets, which is never broken by us.
enum class GroupKind : std::uint8_t { none, block, list, dims };

struct Token {
  LexemeKind kind = LexemeKind::name;
  std::string_view text;
  Break before = Break::none;             ///< first the author's, then ours
  bool has_space = false;                 ///< before it, if it does not begin a line
  bool begins_statement = false;          ///< or an element of a list
  GroupKind group = GroupKind::none;      ///< of a bracket
  std::optional<std::size_t> partner;     ///< of a bracket
  std::optional<std::size_t> enclosing;   ///< the opener of the innermost group around it

  bool is_comment() const { return kind == LexemeKind::line_comment || kind == LexemeKind::block_comment; }
  bool is(std::string_view spelling) const { return text == spelling && (kind == LexemeKind::sign || kind == LexemeKind::word); }
  bool is_opener() const { return is("{") || is("(") || is("["); }
  bool is_closer() const { return is("}") || is(")") || is("]"); }
};

/// The tokens of a well-formed file with all that follows from what stands beside them. The texts point into the file.
std::vector<Token> read_tokens(const source::SourceFile& file);

/// Decides every break: the author's, made regular, and those that long lines need.
void place_breaks(std::vector<Token>& tokens);

/// Spaces of indentation before each token that begins a line; 0 elsewhere.
std::vector<std::size_t> indentations(const std::vector<Token>& tokens);

/// Spaces beyond the usual ones before tokens that stand in columns with those of neighbouring lines.
std::vector<std::size_t> alignments(const std::vector<Token>& tokens, const std::vector<std::size_t>& indents);

/// Whether an operand may end with the token, so that `-`, `(` or `[` after it goes on from it.
bool ends_operand(const std::vector<Token>& tokens, std::size_t index);
/// The last token before `index` that is no comment.
std::optional<std::size_t> previous_code(const std::vector<Token>& tokens, std::size_t index);
/// The first token after `index` that is no comment.
std::optional<std::size_t> next_code(const std::vector<Token>& tokens, std::size_t index);
/// Spaces before a token inside of its line.
std::size_t gap(const Token& token);
/// Columns of a text.
std::size_t width_of(std::string_view text);

}  // namespace dtj::format
