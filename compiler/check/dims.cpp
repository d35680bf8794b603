#include "compiler/check/dims.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <gsl/gsl>

namespace dtj::check {

namespace {

std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t wrapping_multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

bool by_name(const SymbolPtr& a, const SymbolPtr& b) {
  return a->name < b->name;
}

Monomial multiply(const Monomial& a, const Monomial& b) {
  Monomial result;
  std::merge(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(), std::back_inserter(result.symbols),
             by_name);
  return result;
}

std::optional<Monomial> divide(const Monomial& a, const Monomial& b) {
  if (!std::includes(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(), by_name)) {
    return std::nullopt;
  }
  Monomial result;
  std::set_difference(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(),
                      std::back_inserter(result.symbols), by_name);
  return result;
}

std::string parenthesized(const Dim& dim) {
  std::string text = dim.to_string();
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

}  // namespace

bool operator<(const Monomial& a, const Monomial& b) {
  if (a.symbols.size() != b.symbols.size()) return a.symbols.size() < b.symbols.size();
  return std::lexicographical_compare(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(), by_name);
}

Dim Dim::symbol(std::string name, bool rigid) {
  Dim dim;
  dim.terms_[Monomial{{std::make_shared<const Symbol>(Symbol{std::move(name), rigid, nullptr, nullptr})}}] = 1;
  return dim;
}

bool Dim::is_rigid() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const auto& term) {
    const auto& symbols = term.first.symbols;
    return std::all_of(symbols.begin(), symbols.end(), [](const SymbolPtr& symbol) { return symbol->rigid; });
  });
}

void Dim::add_term(const Monomial& monomial, std::int64_t factor) {
  if (factor == 0) return;
  if (monomial.symbols.empty()) {
    constant_ = wrapping_add(constant_, factor);
    return;
  }
  // A quotient times its denominator is the numerator again.
  for (const auto& symbol : monomial.symbols) {
    if (!symbol->numerator) continue;
    Dim rest = 0;
    rest.terms_[*check::divide(monomial, Monomial{{symbol}})] = factor;
    if (auto cofactor = divide(rest, *symbol->denominator)) {
      *this = *this + *cofactor * *symbol->numerator;
      return;
    }
  }
  auto& place = terms_[monomial];
  place = wrapping_add(place, factor);
  if (place == 0) terms_.erase(monomial);
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim result = a;
  result.constant_ = wrapping_add(result.constant_, b.constant_);
  for (const auto& [monomial, factor] : b.terms_) result.add_term(monomial, factor);
  return result;
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + Dim(-1) * b;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.terms_.empty() && b.terms_.empty()) return wrapping_multiply(a.constant_, b.constant_);
  Dim result = wrapping_multiply(a.constant_, b.constant_);
  for (const auto& [monomial, factor] : a.terms_) result.add_term(monomial, wrapping_multiply(factor, b.constant_));
  for (const auto& [monomial, factor] : b.terms_) result.add_term(monomial, wrapping_multiply(factor, a.constant_));
  for (const auto& [left, left_factor] : a.terms_) {
    for (const auto& [right, right_factor] : b.terms_) {
      result.add_term(multiply(left, right), wrapping_multiply(left_factor, right_factor));
    }
  }
  return result;
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.constant_ != b.constant_ || a.terms_.size() != b.terms_.size()) return false;
  return std::equal(a.terms_.begin(), a.terms_.end(), b.terms_.begin(), [](const auto& x, const auto& y) {
    return x.second == y.second && !(x.first < y.first) && !(y.first < x.first);
  });
}

std::optional<Dim> Dim::divide(const Dim& a, const Dim& b) {
  Expects(!b.is(0));
  if (a.terms_.empty() && b.terms_.empty()) {
    if (b.constant_ == -1) return wrapping_multiply(a.constant_, -1);
    return a.constant_ % b.constant_ == 0 ? std::optional<Dim>(a.constant_ / b.constant_) : std::nullopt;
  }
  // Division with remainder by the leading terms; the remainder must vanish.
  auto leading = [](const Dim& dim) {
    std::pair<Monomial, std::int64_t> term{{}, dim.constant_};
    if (!dim.terms_.empty()) term = *dim.terms_.rbegin();
    return term;
  };
  const auto [divisor_monomial, divisor_factor] = leading(b);
  Dim rest = a;
  Dim result = 0;
  while (!rest.is(0)) {
    const auto [monomial, factor] = leading(rest);
    auto shared = check::divide(monomial, divisor_monomial);
    if (!shared || factor % divisor_factor != 0) return std::nullopt;
    Dim term = 0;
    term.add_term(*shared, factor / divisor_factor);
    result = result + term;
    Dim next = rest - term * b;
    if (!(leading(next).first < monomial) && !next.is(0)) return std::nullopt;
    rest = std::move(next);
  }
  return result;
}

std::pair<Dim, Dim> Dim::cancel(const Dim& a, const Dim& b) {
  const bool are_products = a.constant_ == 0 && b.constant_ == 0 && a.terms_.size() == 1 && b.terms_.size() == 1;
  if (!are_products) return {a, b};
  const auto& [left, left_factor] = *a.terms_.begin();
  const auto& [right, right_factor] = *b.terms_.begin();
  Monomial shared;
  std::set_intersection(left.symbols.begin(), left.symbols.end(), right.symbols.begin(), right.symbols.end(),
                        std::back_inserter(shared.symbols), by_name);
  Dim factor = 0;
  factor.add_term(shared, std::gcd(left_factor, right_factor));
  return {divide(a, factor).value_or(a), divide(b, factor).value_or(b)};
}

Dim Dim::quotient(const Dim& a, const Dim& b) {
  if (auto exact = divide(a, b)) return *exact;
  const auto [numerator, denominator] = cancel(a, b);
  std::string name = parenthesized(numerator) + "/" + parenthesized(denominator);
  Dim dim;
  dim.terms_[Monomial{{std::make_shared<const Symbol>(Symbol{
      std::move(name), false, std::make_shared<const Dim>(numerator), std::make_shared<const Dim>(denominator)})}}] = 1;
  return dim;
}

std::string Dim::to_string() const {
  std::string text;
  auto append = [&](std::int64_t factor, const std::string& symbols) {
    const bool negative = factor < 0;
    if (!text.empty()) text += negative ? " - " : " + ";
    if (text.empty() && negative) text += "-";
    const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
    if (symbols.empty())
      text += std::to_string(magnitude);
    else
      text += magnitude == 1 ? symbols : fmt::format("{}*{}", magnitude, symbols);
  };
  for (auto term = terms_.rbegin(); term != terms_.rend(); ++term) {
    std::string symbols;
    for (const auto& symbol : term->first.symbols) symbols += (symbols.empty() ? "" : "*") + symbol->name;
    append(term->second, symbols);
  }
  if (constant_ != 0 || terms_.empty()) append(constant_, "");
  return text;
}

Truth are_equal(const Dim& a, const Dim& b) {
  if (a == b) return Truth::yes;
  if (a.number() && b.number()) return Truth::no;
  const Dim difference = a - b;
  if (difference.number()) return Truth::no;
  return difference.is_rigid() ? Truth::no : Truth::unknown;
}

Dim product(const Dims& dims) {
  Dim result = 1;
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + dims[i].to_string();
  return text + "]";
}

}  // namespace dtj::check
