#include <nlohmann/json.hpp>
#include <sstream>

#include "compiler/diagnostics/diagnostics.hpp"
#include "tests/support/catch.hpp"

using dtj::diag::Diagnostic;
using dtj::diag::Kind;
using dtj::source::Range;
using nlohmann::json;

TEST_CASE("render_json: one object a line with all fields", "[unit][diagnostics]") {
  dtj::source::SourceManager sources;
  const auto id = sources.add("a.dtj", "one\ntwo 30 min\n");
  Diagnostic first(Kind::detached_unit, Range::of(id, 8, 14), "a unit must touch its number");
  first.under("here").label(Range::of(id, 0, 3), "there").note("a note").help("a help").fix(Range::of(id, 8, 14), "30min");
  const Diagnostic second(Kind::unknown_name, {}, "bad byte \xFF");

  std::istringstream lines(dtj::diag::render_json({first, second}, sources));
  std::string line;
  REQUIRE(std::getline(lines, line));
  const json object = json::parse(line);
  CHECK(object["code"] == "E303");
  CHECK(object["severity"] == "error");
  CHECK(object["message"] == "a unit must touch its number");
  CHECK(object["file"] == "a.dtj");
  CHECK(object["line"] == 2);
  CHECK(object["col"] == 5);
  CHECK(object["end_line"] == 2);
  CHECK(object["end_col"] == 11);
  CHECK(object["labels"].size() == 2);
  CHECK(object["labels"][0]["text"] == "here");
  CHECK(object["labels"][1]["line"] == 1);
  CHECK(object["notes"] == json::array({"a note"}));
  CHECK(object["helps"] == json::array({"a help"}));
  CHECK(object["fixes"][0]["text"] == "30min");
  CHECK(object["fixes"][0]["col"] == 5);

  REQUIRE(std::getline(lines, line));
  const json other = json::parse(line);
  CHECK(other["file"].is_null());
  CHECK(other["line"].is_null());
  CHECK_FALSE(std::getline(lines, line));
}
