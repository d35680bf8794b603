#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/parse/parse.hpp"

// Any bytes give a tree and diagnostics that can be shown; a text without errors prints as a text with the same tree.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dtj::source::SourceManager sources;
  const auto id = sources.add("fuzz.dtj", std::string(reinterpret_cast<const char*>(data), size));
  dtj::diag::Sink sink;
  const auto file = dtj::parse::parse(sources.file(id), sink);
  dtj::diag::render_text(sink.sorted(), sources, {});
  dtj::diag::render_json(sink.sorted(), sources);
  const std::string printed = dtj::ast::print(*file);
  if (sink.has_errors()) return 0;

  const auto again = sources.add("printed.dtj", printed);
  const std::string reprinted = dtj::ast::print(*dtj::parse::parse(sources.file(again), sink));
  if (!sink.has_errors() && printed == reprinted) return 0;
  std::fputs(dtj::diag::render_text(sink.sorted(), sources, {}).c_str(), stderr);
  std::fprintf(stderr, "the printed tree does not read back:\n%s\n---\n%s\n", printed.c_str(), reprinted.c_str());
  std::abort();
}
