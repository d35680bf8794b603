#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Sizes of tensors as integer polynomials in normal form. A number is the polynomial without symbols; inside a job
// every size is a number, and only the check of a module on its own works with symbols.

namespace dtj::check {

class Dim;

/// What a polynomial is made of. `rigid` symbols (dims of a signature or of a module) are equal only to themselves; the
/// others (integer parameters, quotients nobody could prove) may happen to equal anything.
struct Symbol {
  std::string name;
  bool rigid = true;
  std::shared_ptr<const Dim> numerator, denominator;  ///< of a quotient; both or none
};
using SymbolPtr = std::shared_ptr<const Symbol>;

/// A product of symbols, sorted by name, with repetition.
struct Monomial {
  std::vector<SymbolPtr> symbols;
  friend bool operator<(const Monomial& a, const Monomial& b);  ///< by degree, then by name: a monomial order
};

enum class Truth : std::uint8_t { no, yes, unknown };

class Dim {
 public:
  Dim(std::int64_t value = 0) : constant_(value) {}  // NOLINT: a size is written as a number everywhere
  static Dim symbol(std::string name, bool rigid);

  std::optional<std::int64_t> number() const { return terms_.empty() ? std::optional(constant_) : std::nullopt; }
  bool is(std::int64_t value) const { return terms_.empty() && constant_ == value; }
  bool is_rigid() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  /// As polynomials.
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

  /// a / b, if it is exact for every value of the symbols; b is not 0.
  static std::optional<Dim> divide(const Dim& a, const Dim& b);
  /// a / b as divide gives it; else a symbol q with q * b == a that stands for the quotient.
  static Dim quotient(const Dim& a, const Dim& b);
  /// Something the polynomials cannot say, such as "H div 2".
  static Dim opaque(std::string text) { return symbol(std::move(text), false); }

  /// "64", "C", "3*C + 1"
  std::string to_string() const;

 private:
  /// Both divided by the factors they share, where each is one product.
  static std::pair<Dim, Dim> cancel(const Dim& a, const Dim& b);
  void add_term(const Monomial& monomial, std::int64_t factor);

  std::int64_t constant_ = 0;
  std::map<Monomial, std::int64_t> terms_;  ///< without zeros and without the empty monomial
};

Truth are_equal(const Dim& a, const Dim& b);

using Dims = std::vector<Dim>;
Dim product(const Dims& dims);
/// "[2, 3*C]"
std::string to_string(const Dims& dims);

}  // namespace dtj::check
