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
  CHECK(object["$message_type"] == "diagnostic");
  CHECK(object["message"] == "a unit must touch its number");
  CHECK(object["code"]["code"] == "E303");
  CHECK(object["code"]["explanation"].get<std::string>().find("10epoch") != std::string::npos);
  CHECK(object["level"] == "error");
  REQUIRE(object["spans"].size() == 2);
  const json& primary = object["spans"][0];
  CHECK(primary["file_name"] == "a.dtj");
  CHECK(primary["byte_start"] == 8);
  CHECK(primary["byte_end"] == 14);
  CHECK(primary["line_start"] == 2);
  CHECK(primary["line_end"] == 2);
  CHECK(primary["column_start"] == 5);
  CHECK(primary["column_end"] == 11);
  CHECK(primary["is_primary"] == true);
  CHECK(primary["label"] == "here");
  CHECK(primary["suggested_replacement"].is_null());
  CHECK(primary["suggestion_applicability"].is_null());
  CHECK(primary["text"] == json::array({{{"text", "two 30 min"}, {"highlight_start", 5}, {"highlight_end", 11}}}));
  CHECK(object["spans"][1]["is_primary"] == false);
  CHECK(object["spans"][1]["label"] == "there");
  CHECK(object["spans"][1]["line_start"] == 1);
  REQUIRE(object["children"].size() == 2);
  CHECK(object["children"][0]["level"] == "note");
  CHECK(object["children"][0]["message"] == "a note");
  CHECK(object["children"][1]["level"] == "help");
  CHECK(object["children"][1]["message"] == "a help");
  REQUIRE(object["children"][1]["spans"].size() == 1);
  CHECK(object["children"][1]["spans"][0]["suggested_replacement"] == "30min");
  CHECK(object["children"][1]["spans"][0]["suggestion_applicability"] == "MachineApplicable");
  CHECK(object["rendered"].get<std::string>().find("--> a.dtj:2:5") != std::string::npos);

  REQUIRE(std::getline(lines, line));
  const json other = json::parse(line);
  CHECK(other["spans"].empty());
  CHECK(other["children"].empty());
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("render_json: columns count characters, bytes count bytes", "[unit][diagnostics]") {
  dtj::source::SourceManager sources;
  const auto id = sources.add("a.dtj", "/* \xC3\xA9\xE2\x82\xAC */ x\n");
  const Diagnostic diagnostic(Kind::unknown_name, Range::of(id, 12, 13), "the name `x` is not known");
  const json span = json::parse(dtj::diag::render_json({diagnostic}, sources))["spans"][0];
  CHECK(span["byte_start"] == 12);
  CHECK(span["column_start"] == 10);
  CHECK(span["column_end"] == 11);

  const std::string ascii(21, 'a');
  const auto other = sources.add("b.dtj", ascii + "\xC3\xA9" + ascii + "x\n");
  const Diagnostic far(Kind::unknown_name, Range::of(other, 44, 45), "the name `x` is not known");
  CHECK(json::parse(dtj::diag::render_json({far}, sources))["spans"][0]["column_start"] == 44);
}

TEST_CASE("render_json: of a very long line the part around the mark is shown", "[unit][diagnostics]") {
  dtj::source::SourceManager sources;
  std::string before;
  for (int i = 0; i < 5000; ++i) before += "\xC3\xA9";
  const auto id = sources.add("a.dtj", before + "wrong" + before + "\n");
  const Diagnostic diagnostic(Kind::unknown_name, Range::of(id, 10000, 10005), "the name is not known");
  const json span = json::parse(dtj::diag::render_json({diagnostic}, sources))["spans"][0];
  CHECK(span["column_start"] == 5001);
  REQUIRE(span["text"].size() == 1);
  const json& shown = span["text"][0];
  CHECK(shown["text"].get<std::string>().size() <= 240);
  CHECK(shown["highlight_start"] == 31);  // after 30 characters of two bytes
  CHECK(shown["highlight_end"] == 36);
  CHECK(shown["text"].get<std::string>().substr(60, 5) == "wrong");
}

TEST_CASE("render_json: a fix that may be wrong says so", "[unit][diagnostics]") {
  dtj::source::SourceManager sources;
  const auto id = sources.add("a.dtj", "widht\n");
  Diagnostic diagnostic(Kind::unknown_name, Range::of(id, 0, 5), "the name `widht` is not known");
  diagnostic.fix(Range::of(id, 0, 5), "width", dtj::diag::Applicability::maybe_incorrect);
  const json object = json::parse(dtj::diag::render_json({diagnostic}, sources));
  CHECK(object["children"][0]["spans"][0]["suggestion_applicability"] == "MaybeIncorrect");
}
