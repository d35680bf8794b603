#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/format/format.hpp"
#include "compiler/parse/parse.hpp"

// A well-formed text is formatted without loss, and formatting it again changes nothing. Any other text is refused.

namespace {

[[noreturn]] void fail(const char* what, const std::string& a, const std::string& b) {
  std::fprintf(stderr, "%s:\n%s\n", what, dtj::format::unified_diff("text", a, b).c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  dtj::source::SourceManager sources;
  dtj::diag::Sink sink;
  const auto once = dtj::format::format(sources.file(sources.add("fuzz.dtj", text)), sink);
  if (once.has_value() == sink.has_errors()) std::abort();
  if (!once) return 0;
  const auto twice = dtj::format::format(sources.file(sources.add("once.dtj", *once)), sink);
  if (!twice) fail("the formatted text is not well formed", text, *once);
  if (*twice != *once) fail("formatting twice is not formatting once", *once, *twice);
  const std::string before = dtj::ast::print(*dtj::parse::parse(sources.file(sources.add("a.dtj", text)), sink));
  const std::string after = dtj::ast::print(*dtj::parse::parse(sources.file(sources.add("b.dtj", *once)), sink));
  if (before != after) fail("the tree changed", before, after);
  return 0;
}
