#include <nlohmann/json.hpp>

#include "compiler/diagnostics/diagnostics.hpp"
#include "tests/support/catch.hpp"

// The properties that SARIF 2.1.0 requires. tests/golden/validate_sarif.py checks documents against the whole schema,
// where that is at hand.

using dtj::diag::Diagnostic;
using dtj::diag::Kind;
using dtj::source::Range;
using nlohmann::json;

namespace {

json render(const std::vector<Diagnostic>& diagnostics, const dtj::source::SourceManager& sources,
            const std::vector<std::string>& failures = {}) {
  return json::parse(dtj::diag::render_sarif({{&diagnostics, &sources}}, "0.1.0", failures));
}

}  // namespace

TEST_CASE("render_sarif: a document with its tool, rules and results", "[unit][diagnostics]") {
  dtj::source::SourceManager sources;
  const auto id = sources.add("my jobs/a.dtj", "one\ntwo 30 min\n");
  Diagnostic first(Kind::detached_unit, Range::of(id, 8, 14), "a unit must touch its number");
  first.label(Range::of(id, 0, 3), "there").help("write `30min`").fix(Range::of(id, 8, 14), "30min");
  const Diagnostic again(Kind::detached_unit, Range::of(id, 0, 3), "another");
  const Diagnostic nowhere(Kind::cannot_read_file, {}, "cannot read `b`");
  const json document = render({first, again, nowhere}, sources);

  CHECK(document["version"] == "2.1.0");
  CHECK(document["$schema"].is_string());
  REQUIRE(document["runs"].size() == 1);
  const json& run = document["runs"][0];
  const json& driver = run["tool"]["driver"];
  CHECK(driver["name"] == "dtjc");
  REQUIRE(driver["rules"].size() == 2);
  CHECK(driver["rules"][0]["id"] == "E303");
  CHECK(driver["rules"][0]["shortDescription"]["text"] == "a unit must touch its number");
  CHECK(driver["rules"][0]["help"]["text"].is_string());
  CHECK(driver["rules"][0]["defaultConfiguration"]["level"] == "error");
  CHECK(run["invocations"][0]["executionSuccessful"] == true);

  REQUIRE(run["results"].size() == 3);
  for (const json& result : run["results"]) {
    CHECK(result["message"]["text"].is_string());
    const std::size_t rule = result["ruleIndex"];
    CHECK(driver["rules"][rule]["id"] == result["ruleId"]);
    for (const json& location : result["locations"]) {
      const json& region = location["physicalLocation"]["region"];
      CHECK(region["startLine"] >= 1);
      CHECK(region["startColumn"] >= 1);
      CHECK(region["endLine"] >= region["startLine"]);
    }
  }
  const json& place = run["results"][0]["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "my%20jobs/a.dtj");
  CHECK(place["region"]["startLine"] == 2);
  CHECK(place["region"]["startColumn"] == 5);
  CHECK(place["region"]["endColumn"] == 11);
  CHECK(run["results"][0]["relatedLocations"][0]["message"]["text"] == "there");
  const json& replacement = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
  CHECK(replacement["deletedRegion"]["byteOffset"] == 8);
  CHECK(replacement["insertedContent"]["text"] == "30min");
  CHECK(run["results"][2]["locations"].empty());
}

TEST_CASE("render_sarif: a failure of the tool is no result", "[unit][diagnostics]") {
  const json run = render({}, dtj::source::SourceManager(), {"out of luck"})["runs"][0];
  CHECK(run["results"].empty());
  CHECK(run["invocations"][0]["executionSuccessful"] == false);
  CHECK(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == "out of luck");
}
