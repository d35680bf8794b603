#include <algorithm>

#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// Absolute paths, and `~name/...`.

namespace dtj::lint {

namespace {

/// Behind the expression that opens at `at`: `${x}`, `$(cmd)`, `<user>`, `{{ x }}`; `at` + 1 when none does.
std::size_t skip_expression(std::string_view text, std::size_t at) {
  const char c = text[at];
  const char next = at + 1 < text.size() ? text[at + 1] : ' ';
  const auto behind = [&](std::string_view close) {
    const auto found = text.find(close, at + 1);
    return found == std::string_view::npos || found - at > 120 ? at + 1 : found + close.size();
  };
  if (c == '$' && next == '{') return behind("}");
  if (c == '$' && next == '(') return behind(")");
  if (c == '{') return next == '{' ? behind("}}") : behind("}");
  if (c == '<') {
    const auto close = text.find('>', at);
    const bool is_name = close != std::string_view::npos && close - at < 40 && close > at + 1 && is_alpha(next);
    return is_name ? close + 1 : at;
  }
  if (c == '[') {
    const auto close = text.find(']', at);
    return close != std::string_view::npos && close - at < 40 && text.substr(at, close - at).find(' ') == std::string_view::npos ? close + 1 : at;
  }
  return at + 1;
}

bool ends_path(char c) {
  return is_space(c) || is_quote(c) || c == ':' || c == ',' || c == ';' || c == ')' || c == '(' || c == '|' || c == '>' || c == '&' || c == ']' || c == '}' || c == '\\' || c == '#' || c == '?' || c == 0x1b;
}

std::string_view path_at(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '$' || c == '<' || c == '{' || c == '[') {
      const std::size_t next = skip_expression(text, at);
      if (next == at) break;
      at = next;
      continue;
    }
    if (ends_path(c)) break;
    ++at;
  }
  return trim_back(text.substr(begin, at - begin), ".!*_=" );
}

/// `>`, `2>` with a space in front.
bool is_redirection(std::string_view text, std::size_t at) {
  if (at > 0 && (text[at - 1] == '1' || text[at - 1] == '2' || text[at - 1] == '&' || text[at - 1] == '>')) --at;
  return at == 0 || is_space(text[at - 1]);
}

/// May an absolute path start here? Not inside a relative one, behind a variable, or in a closing tag.
bool starts_here(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char c = text[at - 1];
  if (c == '<') return at + 1 < text.size() && !(text.find('>', at) != std::string_view::npos && text.find('/', at + 1) > text.find('>', at));
  if (is_word(c)) {
    // -I/usr/include, -L/soft/lib
    return at >= 2 && text[at - 2] == '-' && (at == 2 || is_space(text[at - 3]) || is_quote(text[at - 3]));
  }
  return c != '.' && c != '/' && c != '~' && c != '}' && c != ')' && c != '-' && c != '*' && c != '%' && c != '$' && c != '\\' && c != ']' && c != '>' && c != '+' && c != '?' && c != '#'
             ? true
             : c == '>' && is_redirection(text, at - 1);
}

/// `folder + "/name"`, `FOLDER "/name"`: the tail of a path that a program puts together.
bool is_appended(std::string_view text, std::size_t at) {
  if (at == 0 || !is_quote(text[at - 1])) return false;
  const std::string_view head = trim_back(text.substr(0, at - 1));
  if (head.empty()) return false;
  if (head.back() == '+') return true;
  std::size_t begin = head.size();
  while (begin > 0 && is_word(head[begin - 1])) --begin;
  const std::string_view word = head.substr(begin);
  return word.size() > 3 && std::all_of(word.begin(), word.end(), [](char c) { return c == '_' || is_digit(c) || (c >= 'A' && c <= 'Z'); });
}

void read_home(Scan& scan, std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (is_word(text[end]) || text[end] == '-' || text[end] == '.')) ++end;
  const std::string_view name = text.substr(at + 1, end - at - 1);
  if (name.size() < 2 || end == text.size() || text[end] != '/' || !is_alpha(name.front()) || is_well_known_user(name) || is_placeholder(name)) return;
  if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '/' || text[at - 1] == '.')) return;
  scan.leak(Kind::path, path_at(text, at), 92);
}

}  // namespace

void recognise_paths(Scan& scan, const Line& line) {
  const std::string_view text = line.text;
  if (line.has(has_tilde)) {
    for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) read_home(scan, text, at);
  }
  std::size_t at = text.find('/');
  while (at != std::string_view::npos) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    const bool is_file_url = at >= 2 && text[at - 1] == '/' && text[at - 2] == '/';
    const bool is_tail = scan.flavour == Flavour::code && is_appended(text, at);
    if (is_tail || (!starts_here(text, at) && !is_file_url) || !(is_word(next) || next == '<' || next == '$' || next == '{' || next == '.')) {
      at = text.find('/', at + 1);
      continue;
    }
    const std::string_view path = path_at(text, at);
    if (is_site_path(path)) {
      scan.leak(Kind::path, path, 92);
    } else if (path.size() > 1) {
      scan.safe(path, 91);
    }
    at = text.find('/', std::max(at + 1, at + path.size()));
  }
}

}  // namespace dtj::lint
