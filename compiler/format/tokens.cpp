#include "compiler/format/tokens.hpp"

#include <algorithm>

#include "compiler/source/utf8.hpp"

namespace dtj::format {
namespace {

std::string_view trim_end(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

Break author_break(std::string_view space) {
  const auto count = std::count(space.begin(), space.end(), '\n');
  return count == 0 ? Break::none : count == 1 ? Break::line : Break::blank;
}

/// Finds the partners, kinds and insides of brackets, and where statements begin.
class Structure {
 public:
  explicit Structure(std::vector<Token>& tokens) : tokens_(tokens) {}

  void run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      Token& token = tokens_[i];
      if (token.is_closer() && !open_.empty()) close(i);
      token.enclosing = open_.empty() ? std::nullopt : std::optional(open_.back());
      if (!token.is_comment()) {
        token.begins_statement = begins_statement(i);
        if (token.begins_statement) follow_attribute(i);
      }
      if (token.is_opener()) {
        token.group = kind_of_group(i);
        open_.push_back(i);
      }
    }
  }

 private:
  void close(std::size_t i) {
    const std::size_t opener = open_.back();
    open_.pop_back();
    tokens_[opener].partner = i;
    tokens_[i].partner = opener;
    tokens_[i].group = tokens_[opener].group;
  }

  GroupKind kind_of_group(std::size_t i) const {
    const Token& token = tokens_[i];
    const auto before = previous_code(tokens_, i);
    const bool goes_on = before && ends_operand(tokens_, *before);
    if (token.is("[")) return goes_on ? GroupKind::dims : GroupKind::list;
    if (token.is("(")) return GroupKind::list;
    if (!before || tokens_[*before].is(".")) return GroupKind::list;
    if (tokens_[*before].is("else") || tokens_[*before].is("?")) return GroupKind::block;
    if (!goes_on || tokens_[*before].is("}")) return GroupKind::list;
    // enum Name { a, b }
    const auto word = previous_code(tokens_, *before);
    const bool is_enum = word && tokens_[*word].is("enum") && tokens_[*word].begins_statement;
    return is_enum ? GroupKind::list : GroupKind::block;
  }

  bool begins_statement(std::size_t i) const {
    if (is_after_attribute_ && *is_after_attribute_ == i) return true;
    if (tokens_[i].is_closer()) return false;
    const auto before = previous_code(tokens_, i);
    if (!before) return true;
    const Token& last = tokens_[*before];
    const Token& token = tokens_[i];
    const GroupKind group = token.enclosing ? tokens_[*token.enclosing].group : GroupKind::block;
    if (last.is(";")) return true;
    if (last.is_opener()) return true;
    if (last.is(",")) return group != GroupKind::block;
    if (!last.is("}") || last.group != GroupKind::block || group != GroupKind::block) return false;
    // After a block: a sign, a closing bracket or `else` goes on with it.
    const bool is_value_sign = token.is("(") || token.is("[") || token.is("{") || token.is("@");
    return !token.is("else") && !token.is("as") && (token.kind != LexemeKind::sign || is_value_sign);
  }

  /// `@path(args)`: what comes after it is a statement's beginning too.
  void follow_attribute(std::size_t i) {
    if (!tokens_[i].is("@")) return;
    std::size_t at = i + 1;
    const auto skip_comments = [&] {
      while (at < tokens_.size() && tokens_[at].is_comment()) ++at;
    };
    const auto skip_name = [&] {
      skip_comments();
      if (at < tokens_.size() && tokens_[at].kind != LexemeKind::sign) ++at;
      skip_comments();
    };
    skip_name();
    while (at < tokens_.size() && tokens_[at].is(".")) {
      ++at;
      skip_name();
    }
    if (at < tokens_.size() && tokens_[at].is("(")) {
      int depth = 0;
      do {
        depth += tokens_[at].is_opener() ? 1 : tokens_[at].is_closer() ? -1 : 0;
        ++at;
      } while (at < tokens_.size() && depth > 0);
      skip_comments();
    }
    is_after_attribute_ = at;
  }

  std::vector<Token>& tokens_;
  std::vector<std::size_t> open_;
  std::optional<std::size_t> is_after_attribute_;
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_slice_colon(const std::vector<Token>& tokens, std::size_t i) {
  return tokens[i].is(":") && tokens[i].enclosing && tokens[*tokens[i].enclosing].group == GroupKind::dims;
}

/// A sign that stands before its operand.
bool is_prefix(const std::vector<Token>& tokens, std::size_t i) {
  const Token& token = tokens[i];
  if (token.is("@") && token.begins_statement) return true;
  if (token.kind != LexemeKind::sign || !is_one_of(token.text, {"-", "!", ".."})) return false;
  const auto before = previous_code(tokens, i);
  return !before || !ends_operand(tokens, *before);
}

/// Signs that touch what stands on both sides of them.
bool is_tight(const std::vector<Token>& tokens, std::size_t i) {
  const Token& token = tokens[i];
  if (token.kind != LexemeKind::sign) return false;
  if (is_slice_colon(tokens, i)) return true;
  const bool in_dims = token.enclosing && tokens[*token.enclosing].group == GroupKind::dims;
  if (token.is("@")) return in_dims && !token.begins_statement;  // act[B@dp]
  return is_one_of(token.text, {".", "..", "!"});
}

bool is_flat_brace(const Token& token) { return (token.is("{") || token.is("}")) && token.group != GroupKind::block; }

/// `enum Name { a, b }` has the braces of a block and the commas of a list.
bool is_enum_like(const std::vector<Token>& tokens, std::size_t opener) {
  const auto name = previous_code(tokens, opener);
  const auto word = name ? previous_code(tokens, *name) : std::nullopt;
  return word && tokens[*word].is("enum") && tokens[*word].begins_statement;
}

/// Space between two neighbours of which neither is a comment.
bool wants_space(const std::vector<Token>& tokens, std::size_t left, std::size_t right) {
  const Token& a = tokens[left];
  const Token& b = tokens[right];
  if (b.kind == LexemeKind::sign && is_one_of(b.text, {",", ";", ")", "]", "?"})) return false;
  if (a.is("(") || a.is("[") || is_prefix(tokens, left)) return false;
  if (a.is("{") && b.is("}")) return false;
  if (a.is("{")) return !is_flat_brace(a) || is_enum_like(tokens, left);
  if (b.is("}")) return !is_flat_brace(b) || is_enum_like(tokens, *b.partner);
  if (a.is(",")) return true;
  if (is_tight(tokens, left)) return false;
  if (is_prefix(tokens, right)) return true;
  if (is_tight(tokens, right)) return false;
  if (b.is(":")) return false;
  if (b.is("(") || b.is("[")) return a.is("}") || !ends_operand(tokens, left);
  return true;
}

}  // namespace

std::optional<std::size_t> previous_code(const std::vector<Token>& tokens, std::size_t index) {
  while (index > 0) {
    if (!tokens[--index].is_comment()) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> next_code(const std::vector<Token>& tokens, std::size_t index) {
  while (++index < tokens.size()) {
    if (!tokens[index].is_comment()) return index;
  }
  return std::nullopt;
}

bool ends_operand(const std::vector<Token>& tokens, std::size_t index) {
  const Token& token = tokens[index];
  switch (token.kind) {
    case LexemeKind::name:
    case LexemeKind::placeholder:
    case LexemeKind::number:
    case LexemeKind::quantity:
    case LexemeKind::string: return true;
    case LexemeKind::sign: return token.is_closer();
    case LexemeKind::word: break;
    case LexemeKind::line_comment:
    case LexemeKind::block_comment:
    case LexemeKind::mistake: return false;
  }
  if (is_one_of(token.text, {"true", "false", "none", "self"})) return true;
  if (!parse::may_be_name(token.text)) return false;
  if (!token.is("where") && !token.is("when")) return true;
  // A condition follows something that is whole; the function `where(c, a, b)` stands where a value begins.
  const auto before = previous_code(tokens, index);
  return !before || tokens[*before].is("}") || !ends_operand(tokens, *before);
}

std::size_t gap(const Token& token) {
  if (token.kind == LexemeKind::line_comment) return 2;
  return token.has_space ? 1 : 0;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const auto code_point = source::decode_utf8(text);
    width += code_point ? static_cast<std::size_t>(source::display_width(code_point->value)) : 1;
    text.remove_prefix(code_point ? code_point->num_bytes : 1);
  }
  return width;
}

std::vector<Token> read_tokens(const source::SourceFile& file) {
  std::vector<Token> tokens;
  std::size_t end = 0;
  for (const parse::Lexeme& lexeme : parse::read_lexemes(file)) {
    Token token;
    token.kind = lexeme.kind;
    token.text = trim_end(file.slice(lexeme.range));
    token.before = author_break(file.text().substr(end, lexeme.range.begin - end));
    tokens.push_back(token);
    end = lexeme.range.end;
  }
  Structure(tokens).run();
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const bool beside_comment = tokens[i].is_comment() || tokens[i - 1].is_comment();
    tokens[i].has_space = beside_comment || wants_space(tokens, i - 1, i);
  }
  return tokens;
}

}  // namespace dtj::format
