#include "engine/base/name_pattern.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace dtj {
namespace {

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto is_good = [&](char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_good);
}

/// More wildcards would only make matching slow.
constexpr std::size_t max_wildcards = 8;

}  // namespace

Result<NamePattern> NamePattern::parse(std::string_view text) {
  NamePattern pattern;
  pattern.text_ = text;
  if (text.empty()) return fail(ErrorCode::invalid_argument, "the pattern is empty");
  std::size_t num_stars = 0;
  while (!text.empty()) {
    if (text.front() == '*') {
      pattern.pieces_.push_back({Kind::any, "*" + std::to_string(++num_stars)});
      text.remove_prefix(1);
    } else if (text.front() == '{') {
      const std::size_t end = text.find('}');
      if (end == std::string_view::npos) return fail(ErrorCode::invalid_argument, "`{` has no `}`");
      const std::string name(text.substr(1, end - 1));
      if (!is_identifier(name))
        return fail(ErrorCode::invalid_argument, "`{" + name + "}` holds no name such as `{i}`");
      const auto names = pattern.wildcards();
      if (std::find(names.begin(), names.end(), name) != names.end())
        return fail(ErrorCode::invalid_argument, "`{" + name + "}` stands twice");
      pattern.pieces_.push_back({Kind::part, name});
      text.remove_prefix(end + 1);
    } else {
      const std::size_t end = std::min(text.find_first_of("*{"), text.size());
      const std::string_view literal = text.substr(0, end);
      if (const auto bad = literal.find_first_of("} \t"); bad != std::string_view::npos)
        return fail(ErrorCode::invalid_argument, literal[bad] == '}' ? "`}` has no `{`" : "a name has no spaces");
      pattern.pieces_.push_back({Kind::literal, std::string(literal)});
      text.remove_prefix(end);
    }
  }
  if (pattern.wildcards().size() > max_wildcards)
    return fail(ErrorCode::invalid_argument, "there are more than " + std::to_string(max_wildcards) + " wildcards");
  return pattern;
}

std::vector<std::string> NamePattern::wildcards() const {
  std::vector<std::string> names;
  for (const Piece& piece : pieces_)
    if (piece.kind != Kind::literal) names.push_back(piece.text);
  return names;
}

std::optional<NamePattern::Captures> NamePattern::match(std::string_view name) const {
  Captures captures;
  if (!match_from(0, name, captures)) return std::nullopt;
  return captures;
}

bool NamePattern::match_from(std::size_t piece, std::string_view rest, Captures& captures) const {
  if (piece == pieces_.size()) return rest.empty();
  if (pieces_[piece].kind != Kind::literal) return match_wildcard(piece, rest, captures);
  const std::string& literal = pieces_[piece].text;
  return rest.substr(0, literal.size()) == literal && match_from(piece + 1, rest.substr(literal.size()), captures);
}

bool NamePattern::match_wildcard(std::size_t piece, std::string_view rest, Captures& captures) const {
  const bool is_part = pieces_[piece].kind == Kind::part;
  for (std::size_t length = is_part ? 1 : 0; length <= rest.size(); ++length) {
    if (is_part && rest[length - 1] == '.') return false;
    if (!match_from(piece + 1, rest.substr(length), captures)) continue;
    captures[pieces_[piece].text] = std::string(rest.substr(0, length));
    return true;
  }
  return false;
}

std::string NamePattern::substitute(const Captures& captures) const {
  std::string name;
  for (const Piece& piece : pieces_) name += piece.kind == Kind::literal ? piece.text : captures.at(piece.text);
  return name;
}

}  // namespace dtj
