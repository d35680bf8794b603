#include "tests/unit/check/eval_support.hpp"

namespace dtj::check::testing {
namespace {

/// The value of one expression, as text, in a file without mistakes.
std::string result(const std::string& expr) {
  Program program("const r = " + expr + ";");
  INFO(program.all_errors());
  CHECK(program.errors().empty());
  return program.shown("r");
}

TEST_CASE("values: integer arithmetic", "[unit][check]") {
  CHECK(result("2 + 3 * 4") == "14");
  CHECK(result("2 ** 10") == "1024");
  CHECK(result("2 ** -1") == "0.5");
  CHECK(result("12 / 4") == "3");
  CHECK(result("7 div 2") == "3");
  CHECK(result("-7 div 2") == "-4");
  CHECK(result("-7 % 3") == "2");
  CHECK(result("3 divides 12") == "true");
  CHECK(result("5 divides 12") == "false");
}

TEST_CASE("values: numbers with a fraction", "[unit][check]") {
  CHECK(result("1.0 / 4") == "0.25");
  CHECK(result("7 / 2.0") == "3.5");
  CHECK(result("(1 as f32) / 2") == "0.5");
  CHECK(result("sqrt(16)") == "4");
  CHECK(result("floor(2.7)") == "2");
  CHECK(result("maximum(2, 3)") == "3");
  CHECK(result("minimum(2, 0.5)") == "0.5");
  CHECK(result("2.0 as int") == "2");
}

TEST_CASE("values: quantities of one kind", "[unit][check]") {
  CHECK(result("30min + 5s") == "1805s");
  CHECK(result("2 * 30min") == "1h");
  CHECK(result("1h / 30min") == "2");
  CHECK(result("16GiB / 2") == "8GiB");
  CHECK(result("1h > 30min") == "true");
}

TEST_CASE("values: comparisons, logic and branches", "[unit][check]") {
  CHECK(result("1 < 2 and not false") == "true");
  CHECK(result("false and 1 / 0 == 1") == "false");
  CHECK(result("true or 1 / 0 == 1") == "true");
  CHECK(result("\"a\" + \"b\" == \"ab\"") == "true");
  CHECK(result("none == none") == "true");
  CHECK(result("if 3 > 2 { 10 } else { 20 }") == "10");
  CHECK(result("if false { 10 } else if true { 20 } else { 30 }") == "20");
}

TEST_CASE("values: lists, tuples, records and enums", "[unit][check]") {
  CHECK(result("[1, 2, 3][-1]") == "3");
  CHECK(result("([1, 2] + [3])[2]") == "3");
  CHECK(result("[1, 2, 3][1:][0]") == "2");
  CHECK(result("(1, 2)[1]") == "2");
  CHECK(result("{a = 1, b = 2}.b") == "2");
  Program program(
      "enum Kind { first, second } const r = Kind.second == Kind.second; const s = Kind.first == Kind.second;");
  CHECK(program.shown("r") == "true");
  CHECK(program.shown("s") == "false");
}

TEST_CASE("values: statements inside functions", "[unit][check]") {
  Program program(R"(
fn total(n: int) -> int { mut s = 0; for i in 0..n { s += i; } s }
fn first_above(limit: int) -> int { for i in 0..100 { if i * i > limit { return i; } } -1 }
fn pair() { let (a, b) = (3, 4); a * 10 + b }
const a = total(5);
const b = first_above(50);
const c = pair();
)");
  INFO(program.all_errors());
  CHECK(program.shown("a") == "10");
  CHECK(program.shown("b") == "8");
  CHECK(program.shown("c") == "34");
  CHECK(program.errors().empty());
}

TEST_CASE("values: constants may be used before they are declared", "[unit][check]") {
  Program program("const a = b + 1; const b = 2;");
  CHECK(program.shown("a") == "3");
  CHECK(program.errors().empty());
}

TEST_CASE("values: records of the prelude and of the file fill in their defaults", "[unit][check]") {
  Program program(
      "record Config { C: int = 768; heads: int; } const c = Config(heads = 12); const r = c.C / c.heads; const s = "
      "shuffle(seed = 7);");
  INFO(program.all_errors());
  CHECK(program.shown("r") == "64");
  const Value shuffled = program.value("s");
  const auto record = *shuffled.as<std::shared_ptr<Record>>();
  CHECK(record->name == "shuffle");
  REQUIRE(record->find("drop_last") != nullptr);
  CHECK(show(*record->find("drop_last")) == "true");
}

TEST_CASE("values: placeholders have their value or stay unbound", "[unit][check]") {
  Program program("bind <n>: int; bind <m>: int; const a = <n> * 2; const b = <m> * 2; const c = norm(<m>);", {},
                  {{"n", Value{std::int64_t{21}, {}}}});
  INFO(program.all_errors());
  CHECK(program.shown("a") == "42");
  CHECK(program.value("b").is_unbound());
  CHECK((*program.value("c").as<std::shared_ptr<Record>>())->find("max")->is_unbound());
  CHECK(program.errors().empty());
}

TEST_CASE("values: the pipe puts its value first", "[unit][check]") {
  Program program("fn sub(a, b) { a - b } const r = 10 |> sub(3); const s = 4.0 |> sqrt;");
  CHECK(program.shown("r") == "7");
  CHECK(program.shown("s") == "2");
}

}  // namespace
}  // namespace dtj::check::testing
