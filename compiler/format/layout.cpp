#include <algorithm>

#include "compiler/format/format.hpp"
#include "compiler/format/tokens.hpp"

namespace dtj::format {
namespace {

constexpr std::size_t step = 2;  ///< spaces a level

/// Where a line that does not begin a statement goes on from the line before.
bool is_continuation(const std::vector<Token>& tokens, std::size_t i) {
  const Token& token = tokens[i];
  if (token.is_comment()) {
    const auto next = next_code(tokens, i);
    if (!next || tokens[*next].is_closer()) return false;
    return is_continuation(tokens, *next);
  }
  if (token.begins_statement || token.is_closer()) return false;
  return !(token.is("{") && token.group == GroupKind::block);
}

}  // namespace

std::vector<std::size_t> indentations(const std::vector<Token>& tokens) {
  struct Group {
    bool is_broken;
    std::size_t indent;  ///< of the line that opens it
  };
  std::vector<std::size_t> indents(tokens.size(), 0);
  std::vector<Group> open;
  std::size_t line_indent = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (i == 0 || token.before != Break::none) {
      const auto inner = std::find_if(open.rbegin(), open.rend(), [](const Group& group) { return group.is_broken; });
      if (token.is_closer() && !open.empty()) {
        line_indent = open.back().indent;
      } else {
        line_indent = (inner == open.rend() ? 0 : inner->indent + step) + (is_continuation(tokens, i) ? step : 0);
      }
      indents[i] = line_indent;
    }
    if (token.is_opener() && token.partner) {
      open.push_back({tokens[*token.partner].before != Break::none, line_indent});
    } else if (token.is_closer() && token.partner && !open.empty()) {
      open.pop_back();
    }
  }
  return indents;
}

std::string lay_out(const source::SourceFile& file) {
  std::vector<Token> tokens = read_tokens(file);
  place_breaks(tokens);
  const std::vector<std::size_t> indents = indentations(tokens);
  const std::vector<std::size_t> extra = alignments(tokens, indents);
  std::string out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (i > 0 && token.before != Break::none) out += token.before == Break::blank ? "\n\n" : "\n";
    const bool begins_line = i == 0 || token.before != Break::none;
    out.append(begins_line ? indents[i] : gap(token) + extra[i], ' ');
    out += token.text;
  }
  if (!out.empty()) out += '\n';
  return out;
}

}  // namespace dtj::format
