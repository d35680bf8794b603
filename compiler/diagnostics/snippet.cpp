#include "compiler/diagnostics/snippet.hpp"

#include <algorithm>

#include "compiler/source/utf8.hpp"

namespace dtj::diag {
namespace {

constexpr std::size_t tab_width = 4;
constexpr std::size_t max_columns = 160;  // a longer line is cut
constexpr std::size_t columns_before = 40;

/// A line in display columns. `column_of[i]` is the column of byte i; one more entry gives the width.
struct Layout {
  std::string text;
  std::vector<std::size_t> column_of;
};

Layout lay_out(std::string_view line) {
  Layout layout;
  std::size_t column = 0;
  for (std::size_t at = 0; at < line.size();) {
    const auto code_point = source::decode_utf8(line.substr(at));
    const std::size_t num_bytes = code_point ? code_point->num_bytes : 1;
    layout.column_of.insert(layout.column_of.end(), num_bytes, column);
    if (!code_point || (code_point->value < 0x20 && code_point->value != '\t') || code_point->value == 0x7F) {
      layout.text += "\xEF\xBF\xBD";  // a control character must not reach the terminal
      column += 1;
    } else if (code_point->value == '\t') {
      const std::size_t num_spaces = tab_width - column % tab_width;
      layout.text.append(num_spaces, ' ');
      column += num_spaces;
    } else {
      layout.text += line.substr(at, num_bytes);
      column += static_cast<std::size_t>(source::display_width(code_point->value));
    }
    at += num_bytes;
  }
  layout.column_of.push_back(column);
  return layout;
}

/// The part of a long line that holds byte `focus`, with `...` where it is cut.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_cut_before = false;
  bool is_cut_after = false;
};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80; }

Window choose_window(std::string_view line, std::size_t focus) {
  Window window{0, line.size(), false, false};
  if (line.size() <= max_columns) return window;
  window.begin = focus > columns_before ? focus - columns_before : 0;
  window.end = std::min(line.size(), window.begin + max_columns);
  while (window.begin > 0 && is_continuation(line[window.begin])) --window.begin;
  while (window.end < line.size() && is_continuation(line[window.end])) ++window.end;
  window.is_cut_before = window.begin > 0;
  window.is_cut_after = window.end < line.size();
  return window;
}

/// A mark in display columns.
struct Placed {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< > begin
  bool is_primary = false;
  std::string text;
  Piece::Style style() const { return is_primary ? Piece::Style::primary : Piece::Style::secondary; }
};

/// Characters with a style each, grown on demand.
class Canvas {
 public:
  void put(std::size_t column, char c, Piece::Style style) {
    if (cells_.size() <= column) cells_.resize(column + 1, {' ', Piece::Style::plain});
    cells_[column] = {c, style};
  }
  std::size_t width() const { return cells_.size(); }
  Row row() const {
    Row result;
    for (const auto& [c, style] : cells_) {
      if (result.empty() || result.back().style != style) result.push_back({style, {}});
      result.back().text += c;
    }
    return result;
  }

 private:
  std::vector<std::pair<char, Piece::Style>> cells_;
};

Row draw_marks(const std::vector<Placed>& placed, bool with_text) {
  Canvas canvas;
  for (const bool is_primary : {false, true}) {
    for (const Placed& mark : placed) {
      if (mark.is_primary != is_primary) continue;
      for (std::size_t c = mark.begin; c < mark.end; ++c) canvas.put(c, is_primary ? '^' : '-', mark.style());
    }
  }
  Row row = canvas.row();
  if (with_text) row.push_back({placed.front().style(), " " + placed.front().text});
  return row;
}

/// Bars under the marks [from, end) that still wait for their text.
Canvas draw_bars(const std::vector<Placed>& placed, std::size_t from) {
  Canvas canvas;
  for (std::size_t i = from; i < placed.size(); ++i) {
    if (!placed[i].text.empty()) canvas.put(placed[i].begin, '|', placed[i].style());
  }
  return canvas;
}

void draw_texts_below(const std::vector<Placed>& placed, std::size_t first, std::vector<Row>& rows) {
  bool is_first = true;
  for (std::size_t i = first; i < placed.size(); ++i) {
    if (placed[i].text.empty()) continue;
    if (is_first) rows.push_back(draw_bars(placed, i).row());
    is_first = false;
    const Canvas bars = draw_bars(placed, i + 1);
    Row row = bars.row();
    if (bars.width() <= placed[i].begin) {
      row.push_back({Piece::Style::plain, std::string(placed[i].begin - bars.width(), ' ')});
    } else {
      row.clear();  // two marks begin at one column: no bar fits beside the text
      row.push_back({Piece::Style::plain, std::string(placed[i].begin, ' ')});
    }
    row.push_back({placed[i].style(), placed[i].text});
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<Row> draw_snippet(std::string_view line, std::vector<Mark> marks) {
  std::size_t focus = 0;
  if (!marks.empty()) {
    const auto primary = std::find_if(marks.begin(), marks.end(), [](const Mark& mark) { return mark.is_primary; });
    focus = std::min(primary == marks.end() ? marks.front().begin : primary->begin, line.size());
  }
  const Window window = choose_window(line, focus);
  const Layout layout = lay_out(line.substr(window.begin, window.end - window.begin));
  const std::size_t shift = window.is_cut_before ? 3 : 0;
  const std::size_t num_bytes = window.end - window.begin;

  std::vector<Placed> placed;
  for (Mark& mark : marks) {
    const auto column = [&](std::size_t byte) {
      const std::size_t inside = std::clamp(byte, window.begin, window.end) - window.begin;
      const std::size_t past = byte > line.size() ? 1 : 0;  // just after the last character
      return layout.column_of[std::min(inside, num_bytes)] + shift + past;
    };
    const std::size_t begin = column(std::min(mark.begin, line.size()));
    placed.push_back({begin, std::max(begin + 1, column(mark.end)), mark.is_primary, std::move(mark.text)});
  }
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.begin > b.begin; });

  std::vector<Row> rows;
  rows.push_back({{Piece::Style::plain,
                   (window.is_cut_before ? "..." : "") + layout.text + (window.is_cut_after ? "..." : "")}});
  if (placed.empty()) return rows;
  // The rightmost text stands beside its mark only where no other mark reaches past it.
  const bool is_clear = std::all_of(placed.begin(), placed.end(),
                                    [&](const Placed& mark) { return mark.end <= placed.front().end; });
  const bool with_text = is_clear && !placed.front().text.empty();
  rows.push_back(draw_marks(placed, with_text));
  draw_texts_below(placed, with_text ? 1 : 0, rows);
  return rows;
}

}  // namespace dtj::diag
