#include "compiler/lint/tokens.hpp"

#include "compiler/lint/text.hpp"

namespace dtj::lint {

namespace {

/// Behind the braces or brackets that open at `at`; they hold no end of a word.
std::size_t skip_braces(std::string_view text, std::size_t at) {
  const auto close = find_any(text, "}\n", at);
  return close == std::string_view::npos ? text.size() : close + 1;
}

bool ends_word(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (is_space(c) || is_quote(c) || c == ';' || c == '(' || c == ')') return true;
  if (c == '|' || c == '&') return true;
  // A comma between words of a list, not inside `cn1,cn2`.
  return c == ',' && (at + 1 == text.size() || is_space(text[at + 1]) || is_quote(text[at + 1]));
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ';' || c == '`' || c == '|' || c == '&') {
      out.push_back({text.substr(at, 1), true, false});
      ++at;
    } else if (is_space(c) || c == '"' || c == '\'' || c == '(' || c == ')' || c == ',' || c == '[' || c == ']') {
      ++at;
    } else {
      const std::size_t begin = at;
      while (at < text.size() && !ends_word(text, at)) at = text[at] == '{' && at > begin && text[at - 1] == '$' ? skip_braces(text, at) : at + 1;
      if (at == begin) ++at;
      const bool touches = at + 1 < text.size() && (text[at] == '"' || text[at] == '\'') && text[at - 1] == '=';
      out.push_back({text.substr(begin, at - begin), false, touches});
    }
  }
  return out;
}

}  // namespace dtj::lint
