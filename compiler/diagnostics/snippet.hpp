#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtj::diag {

/// What to mark in one source line: bytes [begin, end) of the line; `end` may be past the line's end.
struct Mark {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_primary = false;
  std::string text;  ///< may be empty
};

/// A piece of a rendered line: plain, or in the colour of the primary or the secondary marks.
struct Piece {
  enum class Style { plain, primary, secondary } style = Style::plain;
  std::string text;
};
using Row = std::vector<Piece>;

/// The source line as shown (tabs expanded, long lines cut to a window around the marks), then the rows under it:
/// carets and dashes, with the text of the rightmost mark beside it and the other texts on rows of their own.
std::vector<Row> draw_snippet(std::string_view line, std::vector<Mark> marks);

}  // namespace dtj::diag
