#include <algorithm>

#include "compiler/check/units.hpp"
#include "contract_support.hpp"
#include "tests/support/catch.hpp"

namespace dtj::check {
namespace {

Value value_of(Value::Data data) {
  Value value;
  value.data = std::move(data);
  value.range = testing::somewhere(1);
  return value;
}

double amount(double number, const char* unit) {
  const auto quantity = resolve_unit(number, unit);
  REQUIRE(quantity);
  return quantity->amount;
}

}  // namespace

TEST_CASE("units: spellings resolve to the base unit of their kind", "[unit][check]") {
  CHECK(amount(30, "min") == 1800);
  CHECK(amount(2, "d") == 172800);
  CHECK(amount(5, "us") == 5e-6);
  CHECK(amount(16, "GiB") == 16.0 * 1024 * 1024 * 1024);
  CHECK(amount(16, "GB") == 16e9);
  CHECK(amount(3, "Ktok") == 3000);
  CHECK(amount(10, "%") == 0.1);
  CHECK(amount(100, "Gbps") == 12.5e9);
  CHECK(resolve_unit(1, "GiB")->kind == UnitKind::bytes);
  CHECK(resolve_unit(1, "sample")->kind == UnitKind::sample);
}

TEST_CASE("units: other spellings and other cases are not units", "[unit][check]") {
  for (const char* unit : {"", "gib", "Gib", "MIN", "minutes", "steps", "tokens", "kib"}) {
    INFO(unit);
    CHECK_FALSE(resolve_unit(1, unit));
  }
}

TEST_CASE("units: a quantity is spelled in its largest whole unit", "[unit][check]") {
  CHECK(spell(Quantity{1800, UnitKind::time}) == "30min");
  CHECK(spell(Quantity{5400, UnitKind::time}) == "90min");
  CHECK(spell(Quantity{86400, UnitKind::time}) == "1d");
  CHECK(spell(Quantity{0.5, UnitKind::time}) == "500ms");
  CHECK(spell(Quantity{524288, UnitKind::tok}) == "524_288tok");
  CHECK(spell(Quantity{3000, UnitKind::tok}) == "3000tok");
  CHECK(spell(Quantity{16.0 * 1024 * 1024, UnitKind::bytes}) == "16MiB");
  CHECK(spell(Quantity{16e9, UnitKind::bytes}) == "16GB");
  CHECK(spell(Quantity{0.25, UnitKind::epoch}) == "0.25epoch");
  CHECK(spell(std::int64_t{-1234567}) == "-1_234_567");
}

TEST_CASE("units: every spelled quantity resolves to itself", "[unit][check]") {
  for (double seconds : {1e-9, 0.25, 1.0, 61.0, 3600.0, 90000.0}) {
    const std::string text = spell(Quantity{seconds, UnitKind::time});
    const std::size_t unit_at = text.find_first_not_of("0123456789_.");
    std::string digits = text.substr(0, unit_at);
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    INFO(text);
    CHECK(amount(std::stod(digits), text.c_str() + unit_at) == seconds);
  }
}

TEST_CASE("units: a quantity of another kind is an error that shows a right one", "[unit][check]") {
  diag::Sink sink;
  CHECK_FALSE(expect_quantity(value_of(Quantity{1800, UnitKind::time}), {UnitKind::step, UnitKind::epoch}, "stop", sink));
  REQUIRE(testing::kinds(sink) == std::vector{diag::Kind::wrong_unit});
  CHECK(sink.sorted()[0].message == "`stop` takes a number of steps or a number of epochs, found a duration");
  CHECK(testing::help_of(sink).find("`stop = 500step`") != std::string::npos);
}

TEST_CASE("units: a bare number is an error that offers the units", "[unit][check]") {
  diag::Sink sink;
  CHECK_FALSE(expect_quantity(value_of(std::int64_t{2000}), {UnitKind::step, UnitKind::epoch}, "stop", sink));
  CHECK(testing::kinds(sink) == std::vector{diag::Kind::wrong_unit});
  CHECK(testing::help_of(sink) == "write `2000step` or `2000epoch`");
}

TEST_CASE("units: poisoned and unbound values are silent", "[unit][check]") {
  diag::Sink sink;
  CHECK_FALSE(expect_quantity(value_of(Poison{}), {UnitKind::step}, "stop", sink));
  CHECK_FALSE(expect_quantity(value_of(Unbound{"n"}), {UnitKind::step}, "stop", sink));
  CHECK(sink.sorted().empty());
}

TEST_CASE("units: an unknown unit names the nearest", "[unit][check]") {
  const std::pair<const char*, const char*> cases[] = {{"epochs", "epoch"}, {"hours", "h"}, {"GIB", "GiB"}, {"smaple", "sample"}};
  for (const auto& [written, meant] : cases) {
    diag::Sink sink;
    report_unknown_unit(written, testing::somewhere(3), sink);
    INFO(written);
    CHECK(testing::help_of(sink) == std::string("did you mean `") + meant + "`?");
  }
}

}  // namespace dtj::check
