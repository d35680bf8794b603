#include <cstddef>
#include <cstdint>
#include <string>

#include "compiler/check/check.hpp"
#include "compiler/parse/parse.hpp"

// Any bytes are judged: a job, or mistakes that can be shown. The checker also sees trees that the parser mended.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dtj::source::SourceManager sources;
  const auto id = sources.add("fuzz.dtj", std::string(reinterpret_cast<const char*>(data), size));
  dtj::diag::Sink sink;
  const auto file = dtj::parse::parse(sources.file(id), sink);
  dtj::check::check(*file, sources, {}, sink);
  dtj::diag::render_text(sink.sorted(), sources, {});
  dtj::diag::render_json(sink.sorted(), sources);
  return 0;
}
