#include <algorithm>

#include "compiler/format/tokens.hpp"

namespace dtj::format {
namespace {

/// One line of the result: tokens [begin, end).
struct Line {
  std::size_t begin, end;
  std::size_t indent;
};

enum class Shape : std::uint8_t { other, bind, state, sub };

class Aligner {
 public:
  Aligner(const std::vector<Token>& tokens, const std::vector<std::size_t>& indents)
      : tokens_(tokens), extra_(tokens.size(), 0) {
    for (std::size_t begin = 0; begin < tokens.size();) {
      std::size_t end = begin + 1;
      while (end < tokens.size() && tokens[end].before == Break::none) ++end;
      lines_.push_back({begin, end, indents[begin]});
      begin = end;
    }
  }

  std::vector<std::size_t> run() {
    constexpr std::size_t declaration_slack = 12, help_slack = 40, comment_slack = 40;
    align([this](const Line& line) { return after_colon(line, Shape::bind); }, declaration_slack);
    align([this](const Line& line) { return after_colon(line, Shape::state); }, declaration_slack);
    align([this](const Line& line) { return after_name(line); }, declaration_slack);
    align([this](const Line& line) { return help_text(line); }, help_slack);
    align([this](const Line& line) { return trailing_comment(line); }, comment_slack);
    return std::move(extra_);
  }

 private:
  using Place = std::optional<std::size_t>;

  /// One whole declaration a line, with nothing but a comment behind it.
  Shape shape_of(const Line& line) const {
    const Token& first = tokens_[line.begin];
    if (!first.begins_statement) return Shape::other;
    std::size_t last = line.end - 1;
    if (tokens_[last].kind == LexemeKind::line_comment && last > line.begin) --last;
    if (!tokens_[last].is(";") || tokens_[last].enclosing != first.enclosing) return Shape::other;
    for (std::size_t i = line.begin + 1; i <= last; ++i) {
      if (tokens_[i].is_comment() || (tokens_[i].begins_statement && tokens_[i].enclosing == first.enclosing)) return Shape::other;
    }
    if (line.begin + 1 > last || tokens_[line.begin + 1].kind == LexemeKind::sign) return Shape::other;
    if (first.is("bind")) return Shape::bind;
    if (first.is("sub")) return Shape::sub;
    return first.is("param") || first.is("buffer") || first.is("state") ? Shape::state : Shape::other;
  }

  Place find(const Line& line, std::string_view sign) const {
    for (std::size_t i = line.begin; i < line.end; ++i) {
      if (tokens_[i].is(sign) && tokens_[i].enclosing == tokens_[line.begin].enclosing) return i;
    }
    return std::nullopt;
  }

  Place after_colon(const Line& line, Shape shape) const {
    if (shape_of(line) != shape) return std::nullopt;
    const Place colon = find(line, ":");
    return colon ? Place(*colon + 1) : std::nullopt;
  }
  /// A condition stands in the column of the others' `=`, and its own `=` behind it.
  Place after_name(const Line& line) const {
    if (shape_of(line) != Shape::sub) return std::nullopt;
    const Place assign = find(line, "=");
    const Place when = find(line, "when");
    return when && assign && *when < *assign && *when > line.begin + 1 ? when : assign;
  }

  Place help_text(const Line& line) const {
    if (shape_of(line) != Shape::bind) return std::nullopt;
    const Place semicolon = find(line, ";");
    if (!semicolon || tokens_[*semicolon - 1].kind != LexemeKind::string) return std::nullopt;
    return tokens_[*semicolon - 2].is("=") ? std::nullopt : Place(*semicolon - 1);  // `= "text";` is a default
  }

  Place trailing_comment(const Line& line) const {
    const std::size_t last = line.end - 1;
    if (tokens_[last].kind != LexemeKind::line_comment || last == line.begin) return std::nullopt;
    return last;
  }

  std::size_t column(const Line& line, std::size_t place) const {
    std::size_t column = line.indent;
    for (std::size_t i = line.begin; i < place; ++i) {
      column += width_of(tokens_[i].text);
      if (i > line.begin) column += gap(tokens_[i]) + extra_[i];
    }
    return column;
  }

  /// Runs of neighbouring lines that all have the place; a run ends where the columns lie too far apart.
  template <class Find>
  void align(Find find_place, std::size_t slack) {
    std::vector<std::pair<std::size_t, std::size_t>> run;  // place, column
    std::size_t lowest = 0, highest = 0, indent = 0;
    const auto finish = [&] {
      for (const auto& [place, at] : run) extra_[place] += highest - at;
      run.clear();
    };
    for (const Line& line : lines_) {
      const Place place = find_place(line);
      if (!place) {
        finish();
        continue;
      }
      const std::size_t at = column(line, *place);
      const bool is_far = std::max(highest, at) - std::min(lowest, at) > slack;
      const bool is_apart = tokens_[line.begin].before == Break::blank || line.indent != indent;
      if (!run.empty() && (is_far || is_apart)) finish();
      if (run.empty()) lowest = highest = at;
      lowest = std::min(lowest, at);
      highest = std::max(highest, at);
      indent = line.indent;
      run.emplace_back(*place, at);
    }
    finish();
  }

  const std::vector<Token>& tokens_;
  std::vector<std::size_t> extra_;
  std::vector<Line> lines_;
};

}  // namespace

std::vector<std::size_t> alignments(const std::vector<Token>& tokens, const std::vector<std::size_t>& indents) {
  return Aligner(tokens, indents).run();
}

}  // namespace dtj::format
