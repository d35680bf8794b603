#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/lint/config.hpp"
#include "compiler/lint/fix.hpp"
#include "compiler/lint/scan_file.hpp"

// Any bytes, as any kind of file: every finding lies in the text and names its bytes, findings do not overlap, the stream
// gives what the text gives, and the fixed text is found clean of what was fixed.

namespace {

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

std::vector<dtj::lint::Finding> scan(const std::string& name, const std::string& text, const dtj::lint::Config& config) {
  std::vector<dtj::lint::Finding> findings;
  const dtj::lint::OnFinding add = [&](dtj::lint::Finding&& finding) { findings.push_back(std::move(finding)); };
  dtj::lint::scan_text(name, text, config, add);
  return findings;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const char* const names[] = {"a.sbatch", "a.md", "a.log", "a.yaml", "a.py", "a.json", "a.dtj", "a.pbs", "a.txt", "a"};
  const std::string name = names[data[0] % std::size(names)];
  const std::string text(reinterpret_cast<const char*>(data), size);
  dtj::lint::Config config;
  config.tier = dtj::lint::Tier::all;
  const auto findings = scan(name, text, config);
  std::size_t at = 0;
  for (const auto& finding : findings) {
    if (finding.offset < at) die("findings overlap or are out of order");
    if (finding.offset + finding.value.size() > size || finding.value.empty()) die("a finding lies outside of the text");
    if (text.compare(finding.offset, finding.value.size(), finding.value) != 0) die("a finding does not name its bytes");
    if (finding.line == 0 || finding.column == 0 || finding.end_column - finding.column != finding.value.size()) die("a place is wrong");
    at = finding.offset + finding.value.size();
  }
  std::istringstream stream(text);
  std::size_t in_stream = 0;
  dtj::lint::scan_stream(name, stream, config, [&](dtj::lint::Finding&&) { ++in_stream; });
  if (in_stream != findings.size()) die("the stream and the text disagree");
  dtj::lint::Placeholders placeholders;
  dtj::lint::apply_placeholders(text, findings, placeholders);
  return 0;
}
