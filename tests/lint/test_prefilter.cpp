#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/lint/scan.hpp"
#include "tests/support/catch.hpp"

// The literals that rules say they need are all that a match can do without: with every rule tried on every line the
// same is found.

namespace {

std::vector<std::string> found_in(const std::string& name, const std::string& text, bool has_prefilter) {
  dtj::lint::Scan scan(name, {dtj::lint::Tier::all, has_prefilter});
  scan.window(text, true);
  std::vector<std::string> out;
  for (const auto& hit : scan.found()) {
    out.push_back(std::string(dtj::lint::rule_of(*hit.kind).name) + " " + text.substr(hit.begin, hit.end - hit.begin) + " at " + std::to_string(hit.begin));
  }
  return out;
}

}  // namespace

TEST_CASE("prefilter: nothing is lost", "[lint]") {
  for (const auto& entry : std::filesystem::directory_iterator(DTJ_SOURCE_DIR "/tests/lint/corpus")) {
    const std::string name = entry.path().filename().string();
    if (name == "labels.jsonl") continue;
    std::ifstream input(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(input), {});
    INFO(name);
    CHECK(found_in(name, text, true) == found_in(name, text, false));
  }
}
