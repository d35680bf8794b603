#include "compiler/parse/complaint.hpp"

#include <fmt/format.h>

#include <array>

#include "grammar/DtjLexer.h"
#include "grammar/DtjParser.h"

namespace dtj::parse {
namespace {

using diag::Diagnostic;
using diag::Kind;
using grammar::DtjLexer;
using grammar::DtjParser;
using source::Range;

/// What ends with a `;`.
std::string_view noun_of(std::size_t rule) {
  switch (rule) {
    case DtjParser::RuleSetting: return "setting";
    case DtjParser::RuleConstDecl: return "constant";
    case DtjParser::RuleImportDecl: return "import";
    case DtjParser::RuleBindDecl: return "placeholder";
    case DtjParser::RuleRecordField: return "field";
    case DtjParser::RuleBlock:
    case DtjParser::RuleStmt: return "statement";
    default: return "declaration";
  }
}

class Phrase {
 public:
  Phrase(const Complaint& complaint, const source::SourceFile& file) : c_(complaint), file_(file) {}

  Diagnostic make() const {
    if (is_at_top()) return top_level();
    if (is_stray_closer()) return stray_closer();
    if (expects(DtjLexer::RBRACE) && ends_early()) return unclosed(DtjLexer::RBRACE);
    if (is_entry()) return entry();
    if (c_.previous != nullptr && c_.previous->getType() == DtjLexer::DOT) return what("a name");
    if (expects(DtjLexer::INT)) return what("a value");
    if (expects(DtjLexer::SEMI) && !expects(DtjLexer::LBRACE)) return missing_semicolon();
    if (c_.rule == DtjParser::RuleSection || c_.rule == DtjParser::RuleSectionItem) {
      if (expects(DtjLexer::IDENT)) return what_item("a setting or a section");
    }
    if (c_.rule == DtjParser::RuleJobDecl && expects(DtjLexer::IDENT) && expects(DtjLexer::RBRACE)) {
      return what_item("a setting, a section, `const` or `fn`");
    }
    if (c_.rule == DtjParser::RuleModuleDecl && expects(DtjLexer::PARAM)) {
      return what_item("`param`, `buffer`, `state`, `sub`, `const` or `fn`");
    }
    for (const std::size_t closer : {DtjLexer::RPAREN, DtjLexer::RBRACK, DtjLexer::RBRACE}) {
      if (expects(closer) && !c_.closes_ahead && c_.opener != nullptr) return unclosed(closer);
    }
    if (c_.rule == DtjParser::RuleFnDecl && expects(DtjLexer::LBRACE)) return what("the body of the function");
    if (c_.rule == DtjParser::RuleSimpleType || c_.rule == DtjParser::RuleType) return what("a type");
    if (expects(DtjLexer::IDENT) && !expects(DtjLexer::LBRACE)) return what("a name");
    return what(list_expected());
  }

 private:
  bool expects(std::size_t type) const { return c_.expected.contains(type); }
  bool is_on_later_line() const { return c_.previous != nullptr && c_.found->getLine() > c_.previous->getLine(); }
  bool is_at_top() const {
    return c_.rule == DtjParser::RuleFile || c_.rule == DtjParser::RuleTopDecl;
  }
  bool ends_early() const { return c_.found->getType() == Token::EOF || starts_declaration(*c_.found); }
  bool is_entry() const {
    return c_.rule == DtjParser::RuleJobItem || c_.rule == DtjParser::RuleSectionItem ||
           (c_.rule == DtjParser::RuleSetting && expects(DtjLexer::ASSIGN));
  }

  Range here() const { return range_of(*c_.found, file_.id()); }
  /// Where something is missing.
  Range gap() const { return c_.previous == nullptr ? here() : after(*c_.previous, file_.id()); }

  std::string found() const {
    if (c_.found->getType() == Token::EOF) return "the end of the file";
    constexpr std::size_t max_length = 32;
    const std::string_view text = text_of(*c_.found, file_);
    if (text.size() > max_length) return "this text";
    return fmt::format("{}`{}`", is_word(c_.found->getType()) ? "the reserved word " : "", text);
  }
  std::string previous() const {
    return c_.previous == nullptr ? std::string() : std::string(text_of(*c_.previous, file_));
  }

  /// Something foreign among the items of a body.
  Diagnostic what_item(std::string_view wanted) const {
    return Diagnostic(Kind::syntax_error, here(), fmt::format("expected {}, found {}", wanted, found()));
  }

  Diagnostic what(std::string_view wanted) const {
    const bool is_gap = is_on_later_line() || c_.found->getType() == Token::EOF;
    const bool follows_sign = c_.previous != nullptr && c_.previous->getType() >= DtjLexer::LBRACE &&
                              c_.previous->getType() <= DtjLexer::AT && !is_closer(c_.previous->getType());
    const std::string place = follows_sign ? fmt::format(" after `{}`", previous()) : std::string();
    Diagnostic diagnostic(Kind::syntax_error, is_gap ? gap() : here(),
                          fmt::format("expected {}{}, found {}", wanted, place, found()));
    add_hints(diagnostic);
    return diagnostic;
  }

  void add_hints(Diagnostic& diagnostic) const {
    const std::size_t type = c_.found->getType();
    if (type == DtjLexer::ASSIGN && expects(DtjLexer::LBRACE)) {
      diagnostic.help("`==` compares, `=` assigns").fix(here(), "==", diag::Applicability::maybe_incorrect);
    }
    if (is_word(type) && expects(DtjLexer::IDENT)) diagnostic.help("choose another name");
  }

  Diagnostic missing_semicolon() const {
    const std::string_view noun = noun_of(c_.rule);
    const bool shows_found = !is_on_later_line() && c_.found->getType() != DtjLexer::RBRACE;
    const bool is_comma = c_.found->getType() == DtjLexer::COMMA && !is_on_later_line();
    Diagnostic diagnostic(
        Kind::syntax_error, is_comma ? here() : gap(),
        fmt::format("expected `;` after this {}{}", noun, shows_found ? ", found " + found() : std::string()));
    if (is_comma || !shows_found) diagnostic.fix(diagnostic.range, ";");
    // Only a cast, which ends with a type, leaves an operator over.
    const std::size_t type = c_.found->getType();
    if (type >= DtjLexer::EQ && type <= DtjLexer::AT) diagnostic.help("a cast needs brackets: `(x as f32) + y`");
    return diagnostic;
  }

  Diagnostic unclosed(std::size_t closer) const {
    const std::string_view sign = closer == DtjLexer::RBRACE ? "}" : closer == DtjLexer::RPAREN ? ")" : "]";
    Diagnostic diagnostic(Kind::syntax_error, gap(), fmt::format("expected `{}`, found {}", sign, found()));
    if (c_.opener != nullptr && closer_of(c_.opener->getType()) == closer) {
      diagnostic.label(range_of(*c_.opener, file_.id()), "not closed");
    }
    return diagnostic;
  }

  /// `)` or `]` where no bracket of its kind is open.
  bool is_stray_closer() const {
    const std::size_t type = c_.found->getType();
    if (!is_closer(type) || type == DtjLexer::RBRACE) return false;
    return c_.opener == nullptr || c_.opener->getType() == DtjLexer::LBRACE;
  }
  Diagnostic stray_closer() const {
    return Diagnostic(Kind::syntax_error, here(), fmt::format("unexpected {}", found()))
        .help("nothing is open here that it could close");
  }

  Diagnostic top_level() const {
    const std::size_t type = c_.found->getType();
    if (is_closer(type)) return stray_closer();
    Diagnostic diagnostic(Kind::syntax_error, here(), fmt::format("expected a declaration, found {}", found()));
    if (type == DtjLexer::DTJ) return diagnostic.help("the edition stands once, in the first line");
    return diagnostic.help(
        "a declaration begins with `bind`, `const`, `dim`, `record`, `enum`, `module`, `fn`, `job` or `test`");
  }

  /// A setting or a section that goes wrong right after its name.
  Diagnostic entry() const {
    const std::size_t type = c_.found->getType();
    const std::string wanted = c_.rule == DtjParser::RuleSetting ? "`=`" : "`=` or `{`";
    const bool has_name = c_.previous != nullptr && (c_.previous->getType() == DtjLexer::IDENT ||
                                                     is_word(c_.previous->getType()));
    Diagnostic diagnostic(Kind::syntax_error, is_on_later_line() ? gap() : here(),
                          has_name ? fmt::format("expected {} after `{}`, found {}", wanted, previous(), found())
                                   : fmt::format("unexpected {}", found()));
    if (type == DtjLexer::COLON || type == DtjLexer::EQ) {
      diagnostic.help("a setting is written `name = value;`").fix(here(), "=");
    }
    return diagnostic;
  }

  /// "`,` or `)`": what the grammar takes here, in the order of the lexer.
  std::string list_expected() const {
    std::vector<std::string> signs;
    if (expects(DtjLexer::COMMA)) signs.push_back("`,`");
    for (const ssize_t type : c_.expected.toList()) {
      if (type == DtjLexer::COMMA) continue;
      const std::string literal = c_.vocabulary->getLiteralName(static_cast<std::size_t>(type));
      if (literal.size() > 2 && type >= 0) signs.push_back("`" + literal.substr(1, literal.size() - 2) + "`");
    }
    if (expects(DtjLexer::STRING)) signs.push_back("a string");
    if (expects(DtjLexer::PLACEHOLDER)) signs.push_back("a placeholder `<name>`");
    if (expects(DtjLexer::IDENT)) signs.insert(signs.begin(), "a name");
    constexpr std::size_t max_signs = 4;
    if (signs.empty() || signs.size() > max_signs) return "something else";
    std::string text = signs.front();
    for (std::size_t i = 1; i < signs.size(); ++i) text += (i + 1 == signs.size() ? " or " : ", ") + signs[i];
    return text;
  }

  const Complaint& c_;
  const source::SourceFile& file_;
};

}  // namespace

Diagnostic phrase(const Complaint& complaint, const source::SourceFile& file) {
  return Phrase(complaint, file).make();
}

}  // namespace dtj::parse
