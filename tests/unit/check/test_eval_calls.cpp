#include "tests/unit/check/eval_support.hpp"

namespace dtj::check::testing {
namespace {

TEST_CASE("calls: arguments by place, by name and by default", "[unit][check]") {
  Program program(
      "fn f(a, b = 2, c = 3) { a * 100 + b * 10 + c } const x = f(1); const y = f(1, c = 9); const z = f(c = 1, a = 7, "
      "b = 8);");
  CHECK(program.shown("x") == "123");
  CHECK(program.shown("y") == "129");
  CHECK(program.shown("z") == "781");
  CHECK(program.errors().empty());
}

TEST_CASE("calls: a default may use the parameters before it", "[unit][check]") {
  Program program("fn f(a: int, b: int = 2 * a) -> int { a + b } const x = f(5);");
  CHECK(program.shown("x") == "15");
}

TEST_CASE("calls: an unknown argument is suggested", "[unit][check]") {
  Program program("fn f(width: int) -> int { width } const x = f(widht = 3);");
  CHECK(program.errors() == Strings{"E404 `widht`: `f` has no parameter `widht`"});
  CHECK(program.first_help() == "did you mean `width`?");
}

TEST_CASE("calls: missing, superfluous and repeated arguments", "[unit][check]") {
  CHECK(Program("fn f(a, b, c) { a } const x = f(1);").errors() ==
        Strings{"E404 `f(1)`: `f` misses its arguments `b`, `c`"});
  CHECK(Program("fn f(a) { a } const x = f(1, 2);").errors() == Strings{"E404 `2`: `f` takes 1 argument, found 2"});
  CHECK(Program("fn f(a, b = 1) { a } const x = f(1, a = 2);").errors() ==
        Strings{"E404 `a`: the argument `a` of `f` is given twice"});
  CHECK(Program("fn f(a, b) { a } const x = f(a = 1, 2);").errors() ==
        Strings{"E404 `2`: an argument without a name stands after one with a name"});
}

TEST_CASE("calls: annotated parameters take their type", "[unit][check]") {
  CHECK(Program("fn f(a: int) { a } const x = f(\"one\");").errors() ==
        Strings{"E304 `\"one\"`: argument `a` of `f` must be an integer, found a string"});
  CHECK(Program("fn f(a: (f64, f64)) { a } const x = f((1, 2, 3));").errors() ==
        Strings{"E304 `(1, 2, 3)`: argument `a` of `f` must be a tuple of 2, found a tuple of 3"});
  CHECK(Program("fn f(a: duration) { a } const x = f(5step);").errors() ==
        Strings{"E301 `5step`: argument `a` of `f` must be a quantity of time, found a number of steps"});
  Program halves("fn f(a: int) { a } const x = f(2.0);");
  CHECK(halves.errors() ==
        Strings{"E304 `2.0`: argument `a` of `f` must be an integer, found a number with a fraction"});
  CHECK(halves.first_help() == "write `2`");
  Program number("fn f(a: f64) { a } const x = f(2) / 4;");
  CHECK(number.shown("x") == "0.5");
}

TEST_CASE("calls: a failing where clause shows the values", "[unit][check]") {
  Program program("fn f(heads: int, C: int) where heads divides C { C / heads } const x = f(5, 128);");
  CHECK(program.errors() == Strings{"E306 `f(5, 128)`: `f` needs `heads divides C`"});
  const auto all = program.sink.sorted();
  CHECK(all[0].range_label == "C = 128, heads = 5");
  CHECK(all[0].helps == Strings{"the nearest valid value of `heads` is 4 or 8"});
}

TEST_CASE("calls: endless recursion is found", "[unit][check]") {
  CHECK(Program("fn f(x) { f(x + 1) } const y = f(0);").errors() ==
        Strings{"E005 `f(x + 1)`: calls of `f` nest deeper than 200"});
  CHECK(Program("module M() { sub m = M(); } const y = M();").errors() ==
        Strings{"E005 `M()`: calls of `M` nest deeper than 200"});
}

TEST_CASE("calls: an elaboration without end runs out of fuel", "[unit][check]") {
  Program program("fn f(n) { mut s = 0; for i in 0..n { for j in 0..n { s += 1; } } s } const y = f(100000);");
  REQUIRE(program.errors().size() == 1);
  CHECK(program.errors()[0].rfind("E005", 0) == 0);
  CHECK(Program("fn f(n) { for i in 0..n { } } const y = f(1000000000000);").errors() ==
        Strings{"E005 `0..n`: a range of 1000000000000 is too long"});
}

TEST_CASE("calls: only functions, modules and records can be called", "[unit][check]") {
  CHECK(Program("const a = 3; const b = a(1);").errors() == Strings{"E304 `a`: an integer cannot be called"});
}

}  // namespace
}  // namespace dtj::check::testing
