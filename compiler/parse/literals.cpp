#include "compiler/parse/literals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <gsl/gsl>
#include <string>

namespace dtj::parse {
namespace {

using diag::Kind;
using source::Range;

std::string without_underscores(std::string_view spelling) {
  std::string digits(spelling);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  return digits;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Length of the number at the start of a quantity; `e` is an exponent only before digits.
std::size_t number_length(std::string_view spelling) {
  std::size_t at = 0;
  while (at < spelling.size() && (is_digit(spelling[at]) || spelling[at] == '_' || spelling[at] == '.')) ++at;
  if (at >= spelling.size() || (spelling[at] != 'e' && spelling[at] != 'E')) return at;
  std::size_t digits = at + 1;
  if (digits < spelling.size() && (spelling[digits] == '+' || spelling[digits] == '-')) ++digits;
  std::size_t end = digits;
  while (end < spelling.size() && is_digit(spelling[end])) ++end;
  return end > digits ? end : at;
}

std::optional<double> to_double(std::string_view spelling) {
  const std::string digits = without_underscores(spelling);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

ast::Expr::Node fail_range(std::string_view spelling, std::string_view holder, Range range, diag::Sink& sink) {
  constexpr std::size_t max_length = 40;
  const std::string shown = spelling.size() <= max_length ? fmt::format("`{}`", spelling) : "this number";
  sink.report({Kind::invalid_literal, range, fmt::format("{} does not fit in {}", shown, holder)});
  return ast::ErrorExpr{};
}

}  // namespace

ast::Expr::Node decode_int(std::string_view spelling, Range range, diag::Sink& sink) {
  const bool is_hex = spelling.size() > 2 && spelling[0] == '0' && spelling[1] == 'x';
  const std::string digits = without_underscores(is_hex ? spelling.substr(2) : spelling);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (error == std::errc::result_out_of_range) return fail_range(spelling, "a 64-bit integer", range, sink);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    sink.report({Kind::invalid_literal, range, fmt::format("`{}` is not a number", spelling)});
    return ast::ErrorExpr{};
  }
  return ast::IntLit{value};
}

ast::Expr::Node decode_float(std::string_view spelling, Range range, diag::Sink& sink) {
  const auto value = to_double(spelling);
  if (!value) return fail_range(spelling, "a 64-bit floating-point number", range, sink);
  return ast::FloatLit{*value};
}

ast::Expr::Node decode_quantity(std::string_view spelling, Range range, diag::Sink& sink) {
  const std::size_t length = number_length(spelling);
  const auto value = to_double(spelling.substr(0, length));
  if (!value) return fail_range(spelling, "a 64-bit floating-point number", range, sink);
  return ast::QuantityLit{*value, std::string(spelling.substr(length))};
}

std::string decode_string(std::string_view spelling, Range range, diag::Sink& sink) {
  Expects(!spelling.empty());
  const char quote = spelling.front();
  std::string text;
  for (std::size_t i = 1; i < spelling.size() && spelling[i] != quote; ++i) {
    if (spelling[i] != '\\' || i + 1 == spelling.size()) {
      text += spelling[i];
      continue;
    }
    ++i;
    switch (spelling[i]) {
      case 'n': text += '\n'; break;
      case 't': text += '\t'; break;
      case '"': text += '"'; break;
      case '\\': text += '\\'; break;
      default: {
        const auto at = range.begin + gsl::narrow<std::uint32_t>(i - 1);
        const Range escape = Range::of(range.file, at, at + 2);
        const bool is_shown = is_letter(spelling[i]) || is_digit(spelling[i]);
        sink.report({Kind::invalid_literal, escape,
                     is_shown ? fmt::format("there is no escape `\\{}`", spelling[i]) : "there is no such escape"})
            .help("the escapes are `\\n`, `\\t`, `\\\"` and `\\\\`")
            .fix(escape, fmt::format("\\\\{}", spelling[i]));
        text += '\\';
        text += spelling[i];
      }
    }
  }
  return text;
}

}  // namespace dtj::parse
