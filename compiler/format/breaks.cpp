#include <algorithm>

#include "compiler/format/format.hpp"
#include "compiler/format/tokens.hpp"

namespace dtj::format {
namespace {

/// Makes the author's breaks regular. A group with a break of its own has one after its opener and one before its closer;
/// a block also if something inside it has.
class Regulator {
 public:
  explicit Regulator(std::vector<Token>& tokens) : tokens_(tokens) {}

  void run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) regulate(i);
    break_groups();
    if (!tokens_.empty()) tokens_.front().before = Break::none;
  }

 private:
  bool is_after_line_comment(std::size_t i) const { return i > 0 && tokens_[i - 1].kind == LexemeKind::line_comment; }

  void at_least_line(std::size_t i) {
    if (tokens_[i].before == Break::none) tokens_[i].before = Break::line;
  }

  /// Joins what must stand together, parts what must not.
  void regulate(std::size_t i) {
    Token& token = tokens_[i];
    if (is_after_line_comment(i)) {
      at_least_line(i);
    } else if (!token.is_comment()) {
      const bool is_else = token.is("else");
      const bool touches = token.is(",") || token.is(";") || token.is(".") || is_else;
      const bool is_pipeline = token.is(".") && token.before != Break::none;  // a chain of calls may have a line each
      if (touches && !is_pipeline && i > 0 && !tokens_[i - 1].is_comment()) token.before = Break::none;
      if (token.is("{") && token.group == GroupKind::block && !has_broken_header(i)) token.before = Break::none;
    }
    const bool is_declaration = token.begins_statement && !token.enclosing && i > 0;
    if (is_declaration) {
      // A comment before it on the same line belongs to what ends there.
      at_least_line(i);
    }
    if (token.before == Break::blank && i > 0 && (tokens_[i - 1].is_opener() || token.is_closer())) token.before = Break::line;
  }

  /// `module X(...)` with its `where` on a line of its own: the brace gets one too.
  bool has_broken_header(std::size_t i) const {
    for (std::size_t at = i; at > 0;) {
      --at;
      if (tokens_[at].is_closer() && tokens_[at].partner) {
        at = *tokens_[at].partner;
      }
      if (tokens_[at].begins_statement || tokens_[at].is_opener()) {
        if (tokens_[at].begins_statement || tokens_[at].group == GroupKind::block) return false;
      }
      if (tokens_[at].before != Break::none) return true;
    }
    return false;
  }

  /// Inner groups close before outer ones, so one pass in the order of the closers sees all.
  void break_groups() {
    std::vector<bool> has_own(tokens_.size(), false);    // by opener
    std::vector<bool> has_inner(tokens_.size(), false);  // by opener
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (!token.is_closer() || !token.partner) {
        if (token.before != Break::none && token.enclosing) has_own[*token.enclosing] = true;
        continue;
      }
      const std::size_t opener = *token.partner;
      if (token.before != Break::none) has_own[opener] = true;
      const bool is_block = token.group == GroupKind::block;
      if (has_own[opener] || (is_block && has_inner[opener])) break_group(opener, i);
      const auto outer = tokens_[opener].enclosing;
      if (outer && (has_own[opener] || has_inner[opener])) has_inner[*outer] = true;
    }
  }

  void break_group(std::size_t opener, std::size_t closer) {
    std::size_t first = opener + 1;
    if (tokens_[first].kind == LexemeKind::line_comment && tokens_[first].before == Break::none) ++first;
    at_least_line(first);
    at_least_line(closer);
    // A statement after a block that ends on a line of its own.
    const std::size_t next = closer + 1;
    const bool is_block = tokens_[closer].group == GroupKind::block;
    if (is_block && next < tokens_.size() && tokens_[next].begins_statement) at_least_line(next);
  }

  std::vector<Token>& tokens_;
};

/// Breaks lines that are too long at the brackets of their outermost groups.
class Breaker {
 public:
  explicit Breaker(std::vector<Token>& tokens) : tokens_(tokens) {}

  void run() {
    for (std::size_t begin = 0; begin < tokens_.size();) {
      std::size_t end = end_of_line(begin);
      const std::size_t depth = depth_at(begin);
      const std::size_t code_end = tokens_[end - 1].kind == LexemeKind::line_comment && end - 1 > begin ? end - 1 : end;
      if (2 * depth + width(begin, code_end) > max_width && break_line(begin, code_end)) continue;
      for (std::size_t i = begin; i < end; ++i) track(i);
      begin = end;
    }
  }

 private:
  std::size_t end_of_line(std::size_t begin) const {
    std::size_t end = begin + 1;
    while (end < tokens_.size() && tokens_[end].before == Break::none) ++end;
    return end;
  }

  std::size_t width(std::size_t begin, std::size_t end) const {
    std::size_t width = 0;
    for (std::size_t i = begin; i < end; ++i) width += (i > begin ? gap(tokens_[i]) : 0) + width_of(tokens_[i].text);
    return width;
  }

  /// Open groups that begin their content on a line of its own.
  void track(std::size_t i) {
    if (tokens_[i].is_opener() && tokens_[i].partner) open_.push_back(tokens_[*tokens_[i].partner].before != Break::none);
    if (tokens_[i].is_closer() && tokens_[i].partner && !open_.empty()) open_.pop_back();
  }
  std::size_t depth_at(std::size_t begin) const {
    const auto depth = static_cast<std::size_t>(std::count(open_.begin(), open_.end(), true));
    return tokens_[begin].is_closer() && depth > 0 ? depth - 1 : depth;
  }

  /// Of the outermost groups within a line: its blocks, else its widest list.
  bool break_line(std::size_t begin, std::size_t end) {
    std::optional<std::size_t> widest;
    std::size_t widest_width = 0;
    bool has_block = false;
    for (std::size_t i = begin; i < end; ++i) {
      const Token& token = tokens_[i];
      if (!token.is_opener() || !token.partner || *token.partner >= end) continue;
      const std::size_t closer = *token.partner;
      const bool is_empty = closer == i + 1;
      if (!is_empty && token.group == GroupKind::block) {
        break_group(i, closer);
        has_block = true;
      } else if (!is_empty && token.group == GroupKind::list && width(i, closer) > widest_width) {
        widest = i;
        widest_width = width(i, closer);
      }
      i = closer;
    }
    if (has_block) return true;
    if (!widest) return false;
    break_group(*widest, *tokens_[*widest].partner);
    return true;
  }

  void break_group(std::size_t opener, std::size_t closer) {
    const GroupKind kind = tokens_[opener].group;
    tokens_[opener + 1].before = Break::line;
    tokens_[closer].before = Break::line;
    for (std::size_t i = opener + 1; i < closer; ++i) {
      if (tokens_[i].is_opener() && tokens_[i].partner) i = *tokens_[i].partner;
      const std::size_t next = i + 1;
      if (next >= closer || tokens_[next].is_comment()) continue;
      if (kind == GroupKind::list ? tokens_[i].is(",") : tokens_[next].begins_statement) tokens_[next].before = Break::line;
    }
    const std::size_t after = closer + 1;
    const bool is_followed = kind == GroupKind::block && after < tokens_.size() && tokens_[after].begins_statement;
    if (is_followed && tokens_[after].before == Break::none) tokens_[after].before = Break::line;
  }

  std::vector<Token>& tokens_;
  std::vector<bool> open_;
};

}  // namespace

void place_breaks(std::vector<Token>& tokens) {
  Regulator(tokens).run();
  Breaker(tokens).run();
}

}  // namespace dtj::format
