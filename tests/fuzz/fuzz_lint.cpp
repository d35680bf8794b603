#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "dtj/lint.hpp"

// Any bytes under any name: no crash, and every finding is a stretch of one line of the text.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const names[] = {"a.sbatch", "a.md", "a.log", "a.yaml", "a.json", "a.py", "a.txt", "hostfile"};
  dtj::lint::Request request;
  request.source = dtj::lint::Request::Source::text;
  request.text.assign(reinterpret_cast<const char*>(data), size);
  request.text_name = names[size == 0 ? 0 : data[0] % 8];
  request.tier = dtj::lint::Tier::all;
  request.config = DTJ_SOURCE_DIR "/tests/lint/corpus.toml";
  const dtj::lint::Report report = dtj::lint::check(request);
  std::uint64_t end = 0;
  for (const dtj::lint::Finding& finding : report.findings) {
    const bool is_inside = finding.offset >= end && finding.offset + finding.value.size() <= size;
    if (!is_inside || finding.value.empty() || request.text.compare(finding.offset, finding.value.size(), finding.value) != 0) std::abort();
    if (finding.value.find('\n') != std::string::npos || finding.column == 0 || finding.end_column != finding.column + finding.value.size()) std::abort();
    const std::uint64_t line_begin = finding.offset + 1 - finding.column;
    if (line_begin > 0 && request.text[line_begin - 1] != '\n') std::abort();
    end = finding.offset + finding.value.size();
    dtj::lint::render(finding, {dtj::lint::RenderOptions::Format::json});
    dtj::lint::render(finding, {dtj::lint::RenderOptions::Format::github});
  }
  return 0;
}
