#include "compiler/check/dims.hpp"
#include "tests/support/catch.hpp"

namespace dtj::check {
namespace {

const Dim b = Dim::symbol("B", true);
const Dim c = Dim::symbol("C", true);
const Dim heads = Dim::symbol("heads", false);

TEST_CASE("dims: polynomials have one normal form", "[unit][check]") {
  CHECK((b + c) * (b + c) == b * b + Dim(2) * b * c + c * c);
  CHECK((b - b).is(0));
  CHECK((c * Dim(3) + Dim(1)).to_string() == "3*C + 1");
  CHECK((Dim(2) - b).to_string() == "-B + 2");
  CHECK((Dim(6) * Dim(7)).number() == 42);
}

TEST_CASE("dims: division is exact or nothing", "[unit][check]") {
  CHECK(Dim::divide(12, 4) == Dim(3));
  CHECK_FALSE(Dim::divide(13, 4));
  CHECK(Dim::divide(Dim(12) * b * c, Dim(4) * c) == Dim(3) * b);
  CHECK(Dim::divide(b * b - c * c, b - c) == b + c);
  CHECK_FALSE(Dim::divide(c, heads));
  CHECK_FALSE(Dim::divide(b + Dim(1), b));
}

TEST_CASE("dims: an unproved quotient times its denominator is the numerator", "[unit][check]") {
  const Dim size = Dim::quotient(c, heads);
  CHECK(size.to_string() == "C/heads");
  CHECK(size * heads == c);
  CHECK(Dim(3) * b * size * heads == Dim(3) * b * c);
  CHECK(Dim::quotient(Dim(3) * c, Dim(3) * heads) * heads * Dim(3) == Dim(3) * c);
}

TEST_CASE("dims: equality is decided only where it can be", "[unit][check]") {
  CHECK(are_equal(b, b) == Truth::yes);
  CHECK(are_equal(b, b + Dim(1)) == Truth::no);
  CHECK(are_equal(b, c) == Truth::no);
  CHECK(are_equal(heads, c) == Truth::unknown);
  CHECK(are_equal(Dim::opaque("(C div 2)"), c) == Truth::unknown);
}

TEST_CASE("dims: products and printing of shapes", "[unit][check]") {
  CHECK(product({b, 3, c}) == Dim(3) * b * c);
  CHECK(to_string(Dims{b, 3, c + Dim(1)}) == "[B, 3, C + 1]");
  CHECK(to_string(Dims{}) == "[]");
}

}  // namespace
}  // namespace dtj::check
