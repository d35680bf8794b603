#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Bytes, not characters: every byte of 0x80 and above counts as a letter of some language.

namespace dtj::lint {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f' || c == '\0'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_alpha(char c) { return is_upper(c) || is_lower(c); }
inline bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
inline bool is_word(char c) { return is_alnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }
inline bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
inline bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
/// Part of a host name, label dots included.
inline bool is_host_char(char c) { return is_alnum(c) || c == '-' || c == '.' || c == '_'; }
inline char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}

// The library searches a set by one call for each character; sets of a few characters are faster written out.
inline bool is_any_of(char c, std::string_view set) {
  for (const char member : set) {
    if (member == c) return true;
  }
  return false;
}
inline std::size_t find_any(std::string_view text, std::string_view set, std::size_t from = 0) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (is_any_of(text[at], set)) return at;
  }
  return std::string_view::npos;
}
inline std::size_t find_none(std::string_view text, std::string_view set, std::size_t from = 0) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!is_any_of(text[at], set)) return at;
  }
  return std::string_view::npos;
}
inline bool contains_any(std::string_view text, std::string_view set) { return find_any(text, set) != std::string_view::npos; }
inline bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }
inline bool has_alpha(std::string_view text) { return std::any_of(text.begin(), text.end(), is_alpha); }
inline bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

inline bool starts_with(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }
inline bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}
inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}

inline std::string_view trim_front(std::string_view text, std::string_view set = " \t\r\n") {
  std::size_t at = 0;
  while (at < text.size() && is_any_of(text[at], set)) ++at;
  return text.substr(at);
}
inline std::string_view trim_back(std::string_view text, std::string_view set = " \t\r\n") {
  std::size_t size = text.size();
  while (size > 0 && is_any_of(text[size - 1], set)) --size;
  return text.substr(0, size);
}
inline std::string_view trim(std::string_view text, std::string_view set = " \t\r\n") { return trim_back(trim_front(text, set), set); }

/// Calls `visit(piece)` for the pieces of `text` between the characters of `set`; empty pieces are left out.
template <typename Visit>
void for_each_piece(std::string_view text, std::string_view set, Visit visit) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto begin = find_none(text, set, at);
    if (begin == std::string_view::npos) return;
    auto end = find_any(text, set, begin);
    if (end == std::string_view::npos) end = text.size();
    visit(text.substr(begin, end - begin));
    at = end;
  }
}

/// The byte before `piece`, which is a part of `whole`; a space at its start.
inline char before(std::string_view whole, std::string_view piece) {
  return piece.data() == whole.data() ? ' ' : piece.data()[-1];
}
/// The byte after `piece`; a space at the end of `whole`.
inline char after(std::string_view whole, std::string_view piece) {
  return piece.data() + piece.size() == whole.data() + whole.size() ? ' ' : piece.data()[piece.size()];
}
/// From the end of `piece` to the end of `whole`.
inline std::string_view rest_after(std::string_view whole, std::string_view piece) {
  return whole.substr(static_cast<std::size_t>(piece.data() + piece.size() - whole.data()));
}
/// From the start of `whole` to the start of `piece`.
inline std::string_view head_before(std::string_view whole, std::string_view piece) {
  return whole.substr(0, static_cast<std::size_t>(piece.data() - whole.data()));
}

}  // namespace dtj::lint
