#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.hpp"

namespace dtj {

/// A pattern of tensor names such as "h.{i}.attn.*". `{i}` stands for one part of a name, that is one or more characters
/// without a dot; `*` stands for any text, also none.
class NamePattern {
 public:
  /// What the wildcards stand for: "i" -> "3"; the n-th `*` is called "*n".
  using Captures = std::map<std::string, std::string>;

  /// Errors: invalid_argument, with what is wrong.
  static Result<NamePattern> parse(std::string_view text);

  /// None: the name does not match. Of several ways to match, the one whose first wildcards are shortest.
  std::optional<Captures> match(std::string_view name) const;
  bool matches(std::string_view name) const { return match(name).has_value(); }
  /// The name that this pattern stands for; `captures` has all wildcards of it.
  std::string substitute(const Captures& captures) const;

  /// The wildcards, as in Captures, in the order of the text.
  std::vector<std::string> wildcards() const;
  const std::string& text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { literal, part, any };
  struct Piece {
    Kind kind = Kind::literal;
    std::string text;  ///< of a literal; else the name of the wildcard
  };
  bool match_from(std::size_t piece, std::string_view rest, Captures& captures) const;
  bool match_wildcard(std::size_t piece, std::string_view rest, Captures& captures) const;

  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace dtj
