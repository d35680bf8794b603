#include "compiler/parse/mend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <gsl/gsl>

#include "compiler/source/utf8.hpp"
#include "grammar/DtjLexer.h"

namespace dtj::parse {
namespace {

using diag::Kind;
using grammar::DtjLexer;
using source::Range;

constexpr std::array<std::string_view, 26> units = {
    "ns",  "us",  "ms",  "s",   "min", "h",    "d",    "B",    "kB",   "MB",   "GB",    "TB",     "KiB",
    "MiB", "GiB", "TiB", "tok", "Ktok", "Mtok", "Gtok", "Ttok", "step", "epoch", "sample", "Gbps", "GBps"};

bool is_listed(std::string_view word) { return std::find(units.begin(), units.end(), word) != units.end(); }
bool is_plural(std::string_view word) {
  return word.size() > 3 && word.back() == 's' && !is_listed(word) && is_listed(word.substr(0, word.size() - 1));
}
bool is_unit(std::string_view word) { return is_listed(word) || is_plural(word); }

bool ends_value(std::size_t type) { return starts_value(type) || is_closer(type); }

class Mender {
 public:
  Mender(std::vector<TokenPtr> tokens, const source::SourceFile& file, diag::Sink& sink)
      : in_(std::move(tokens)), file_(file), sink_(sink) {}

  std::vector<TokenPtr> run() {
    check_edition();
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  Range range(const Token& token) const { return range_of(token, file_.id()); }
  std::string_view text(const Token& token) const { return text_of(token, file_); }
  std::size_t type(std::size_t ahead) const {
    return at_ + ahead < in_.size() ? in_[at_ + ahead]->getType() : Token::EOF;
  }
  bool touch(std::size_t a, std::size_t b) const {
    return in_[at_ + a]->getStopIndex() + 1 == in_[at_ + b]->getStartIndex();
  }

  void keep() { out_.push_back(std::move(in_[at_++])); }

  /// Drops the tokens that begin before byte `end`; the end of the file stays.
  void drop_until(std::size_t end) {
    while (type(0) != Token::EOF && in_[at_]->getStartIndex() < end) ++at_;
  }

  /// The current token becomes one of `type` up to byte `end`, in place of all that begin before it.
  void keep_as(std::size_t new_type, std::size_t end) {
    auto& token = dynamic_cast<antlr4::CommonToken&>(*in_[at_]);
    token.setType(new_type);
    token.setStopIndex(end - 1);
    keep();
    drop_until(end);
  }

  void step() {
    const Token& token = *in_[at_];
    switch (token.getType()) {
      case DtjLexer::LINE_COMMENT:
      case DtjLexer::BLOCK_COMMENT: ++at_; return;
      case DtjLexer::OPEN_STRING: return mend_open_string();
      case DtjLexer::OPEN_COMMENT: return mend_open_comment();
      case DtjLexer::UNKNOWN: return mend_unknown();
      case DtjLexer::LT: return mend_placeholder();
      case DtjLexer::INT:
      case DtjLexer::FLOAT: return mend_detached_unit();
      default: keep();
    }
  }

  void mend_open_string() {
    const Range all = range(*in_[at_]);
    sink_.report({Kind::invalid_literal, all, "this string is not closed"})
        .help("a string ends with `\"` on the line where it begins");
    if (file_.slice(all).back() != ';' || all.end - all.begin < 2) return keep_as(DtjLexer::STRING, all.end);
    // The `;` was meant to end the setting.
    auto semicolon = std::make_unique<antlr4::CommonToken>(DtjLexer::SEMI);
    semicolon->setStartIndex(all.end - 1);
    semicolon->setStopIndex(all.end - 1);
    semicolon->setLine(in_[at_]->getLine());
    semicolon->setCharPositionInLine(in_[at_]->getCharPositionInLine() + (all.end - 1 - all.begin));
    keep_as(DtjLexer::STRING, all.end - 1);
    out_.push_back(std::move(semicolon));
  }

  void mend_open_comment() {
    sink_.report({Kind::syntax_error, range(*in_[at_]), "this comment is not closed"}).help("it ends with `*/`");
    drop_until(file_.text().size());
  }

  /// Remembers the line, so that many marks in a long one are not a square of its length.
  std::size_t end_of_line(std::size_t from) {
    if (from < line_end_ && from >= line_from_) return line_end_;
    line_from_ = from;
    line_end_ = std::min(file_.text().find_first_of("\r\n", from), file_.text().size());
    return line_end_;
  }

  void mend_unknown() {
    const std::size_t begin = in_[at_]->getStartIndex();
    const std::string_view rest = file_.text().substr(begin);
    const auto code_point = source::decode_utf8(rest).value_or(source::CodePoint{0xFFFD, 1});
    const std::size_t end = begin + code_point.num_bytes;
    const Range here = Range::of(file_.id(), gsl::narrow<std::uint32_t>(begin), gsl::narrow<std::uint32_t>(end));
    // Whatever has so many of them is no job: more messages say no more.
    constexpr std::size_t max_unknown = 200;
    if (++num_unknown_ > max_unknown) return drop_until(end);
    if (rest.front() == '\'') {
      const std::size_t line_end = end_of_line(begin);
      const std::size_t close = file_.text().find('\'', begin + 1);
      if (close < line_end) {
        const Range all = Range::of(file_.id(), here.begin, gsl::narrow<std::uint32_t>(close + 1));
        sink_.report({Kind::syntax_error, all, "a string has double quotes"})
            .fix(Range::of(file_.id(), here.begin, here.end), "\"")
            .fix(Range::of(file_.id(), all.end - 1, all.end), "\"");
        return keep_as(DtjLexer::STRING, close + 1);
      }
    }
    report_unknown(here, code_point.value, rest.substr(0, code_point.num_bytes));
    switch (rest.front()) {
      case '^': return keep_as(DtjLexer::POW, end);
      case '&': return keep_as(DtjLexer::AND, end);
      case '|': return keep_as(DtjLexer::OR, end);
      case '#': return drop_until(end_of_line(begin));
      default: drop_until(end);
    }
  }

  void report_unknown(Range here, char32_t value, std::string_view spelling) {
    const bool is_shown = value >= 0x20 && value != 0x7F && value != 0xFFFD && source::display_width(value) > 0;
    const std::string name = is_shown ? std::string(spelling) : fmt::format("U+{:04X}", static_cast<unsigned>(value));
    auto& diagnostic = sink_.report({Kind::syntax_error, here, fmt::format("unexpected character `{}`", name)});
    switch (value) {
      case '#': diagnostic.help("a comment begins with `//`").fix(here, "//"); return;
      case '\'':
      case 0x201C:
      case 0x201D: diagnostic.help("a string begins and ends with `\"`"); return;
      case '&': diagnostic.help("write `and`"); return;
      case '|': diagnostic.help("write `or`, or `|>` for a pipe"); return;
      case '^': diagnostic.help("a power is written `**`"); return;
      case '$': diagnostic.help("a placeholder is written `<name>`"); return;
      default: return;
    }
  }

  /// `<Data-dir>` where a value must begin is a placeholder whose name breaks the rule.
  void mend_placeholder() {
    const bool is_comparison = !out_.empty() && ends_value(out_.back()->getType());
    const std::size_t begin = in_[at_]->getStartIndex();
    const std::string_view rest = file_.text().substr(begin + 1);
    const auto is_name_char = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
    const auto length = static_cast<std::size_t>(
        std::find_if_not(rest.begin(), rest.end(), is_name_char) - rest.begin());
    if (is_comparison || length == 0 || length >= rest.size() || rest[length] != '>') return keep();
    const std::size_t end = begin + length + 2;
    const Range all =
        Range::of(file_.id(), gsl::narrow<std::uint32_t>(begin), gsl::narrow<std::uint32_t>(end));
    std::string name(rest.substr(0, length));
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    auto& diagnostic = sink_.report({Kind::syntax_error, all,
                                     fmt::format("`{}` is not the name of a placeholder", file_.slice(all))});
    diagnostic.note("it has lower-case letters, digits and `_`, and begins with a letter");
    if (std::isalpha(static_cast<unsigned char>(name.front())) != 0) {
      diagnostic.help(fmt::format("write `<{}>`", name))
            .fix(all, fmt::format("<{}>", name), diag::Applicability::maybe_incorrect);
    }
    keep_as(DtjLexer::PLACEHOLDER, end);
  }

  void mend_detached_unit() {
    const bool is_apart = type(1) == DtjLexer::IDENT && !touch(0, 1) && is_unit(text(*in_[at_ + 1]));
    const bool is_same_line = is_apart && in_[at_]->getLine() == in_[at_ + 1]->getLine();
    // `a = 4 s = 8` lacks a `;`, and `s` is a name.
    const bool is_name = is_apart && (type(2) == DtjLexer::ASSIGN || type(2) == DtjLexer::LBRACE ||
                                      type(2) == DtjLexer::DOT || type(2) == DtjLexer::LPAREN);
    if (!is_same_line || is_name) return keep();
    const Range all = source::join(range(*in_[at_]), range(*in_[at_ + 1]));
    const std::string joined = join_quantity(file_.slice(all));
    sink_.report({Kind::detached_unit, all, "a unit must touch its number"})
        .under(fmt::format("help: `{}`", joined))
        .fix(all, joined);
    keep_as(DtjLexer::QUANTITY, all.end);
  }

  /// `dtj 1;` must come first; a damaged line is dropped.
  void check_edition() {
    while (type(0) == DtjLexer::LINE_COMMENT || type(0) == DtjLexer::BLOCK_COMMENT) ++at_;
    if (type(0) != DtjLexer::DTJ) {
      const Range start = Range::of(file_.id(), 0, 0);
      sink_.report({Kind::wrong_edition, type(0) == Token::EOF ? start : range(*in_[at_]), "the edition is missing"})
          .help("begin the file with `dtj 1;`")
          .fix(start, "dtj 1;\n");
      return;
    }
    const bool is_whole = type(1) == DtjLexer::INT && type(2) == DtjLexer::SEMI;
    if (is_whole && text(*in_[at_ + 1]) == "1") return;
    const bool has_number = type(1) == DtjLexer::INT || type(1) == DtjLexer::FLOAT;
    if (has_number && text(*in_[at_ + 1]) != "1") {
      const Range number = range(*in_[at_ + 1]);
      sink_.report({Kind::wrong_edition, number, fmt::format("there is no edition {}", file_.slice(number))})
          .help("this compiler knows edition 1: `dtj 1;`");
    } else {
      sink_.report({Kind::wrong_edition, range(*in_[at_]), "the edition line is not whole"}).help("write `dtj 1;`");
    }
    const std::size_t line = in_[at_]->getLine();
    while (type(0) != Token::EOF && type(0) != DtjLexer::SEMI && in_[at_]->getLine() == line) ++at_;
    if (type(0) == DtjLexer::SEMI && in_[at_]->getLine() == line) ++at_;
  }

  std::vector<TokenPtr> in_;
  std::vector<TokenPtr> out_;
  const source::SourceFile& file_;
  diag::Sink& sink_;
  std::size_t line_from_ = 0, line_end_ = 0;  ///< the line that was last measured
  std::size_t num_unknown_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

std::string join_quantity(std::string_view spelling) {
  std::string joined(spelling);
  joined.erase(std::remove_if(joined.begin(), joined.end(), [](unsigned char c) { return std::isspace(c) != 0; }),
               joined.end());
  const auto unit = std::find_if(joined.begin(), joined.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  if (joined.size() != spelling.size() && is_plural({&*unit, static_cast<std::size_t>(joined.end() - unit)})) {
    joined.pop_back();
  }
  return joined;
}

std::vector<TokenPtr> mend(std::vector<TokenPtr> tokens, const source::SourceFile& file, diag::Sink& sink) {
  return Mender(std::move(tokens), file, sink).run();
}

}  // namespace dtj::parse
