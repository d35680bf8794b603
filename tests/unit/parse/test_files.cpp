#include <filesystem>
#include <vector>

#include "compiler/parse/parse.hpp"
#include "tests/support/catch.hpp"

namespace {

/// Every job and library file of the project, and jobs that use more of the language than these.
std::vector<std::string> all_files() {
  std::vector<std::string> paths;
  for (const char* folder : {"/examples", "/stdlib", "/tests/unit/parse/jobs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(DTJ_SOURCE_DIR + std::string(folder))) {
      if (entry.path().extension() == ".dtj") paths.push_back(entry.path().string());
    }
  }
  return paths;
}

}  // namespace

TEST_CASE("parse: takes all files of the project", "[unit][parse]") {
  REQUIRE(all_files().size() >= 12);
  for (const std::string& path : all_files()) {
    INFO(path);
    dtj::source::SourceManager sources;
    const auto id = sources.load(path);
    REQUIRE(id);
    dtj::diag::Sink sink;
    const auto file = dtj::parse::parse(sources.file(*id), sink);
    INFO(dtj::diag::render_text(sink.sorted(), sources, {}));
    CHECK(sink.sorted().empty());
    CHECK_FALSE(file->decls.empty());
  }
}

TEST_CASE("print: reads back as the same tree", "[unit][parse]") {
  for (const std::string& path : all_files()) {
    INFO(path);
    dtj::source::SourceManager sources;
    const auto id = sources.load(path);
    REQUIRE(id);
    dtj::diag::Sink sink;
    const std::string first = dtj::ast::print(*dtj::parse::parse(sources.file(*id), sink));
    const auto again = sources.add("printed.dtj", first);
    const std::string second = dtj::ast::print(*dtj::parse::parse(sources.file(again), sink));
    INFO(dtj::diag::render_text(sink.sorted(), sources, {}));
    CHECK(sink.sorted().empty());
    CHECK(first == second);
  }
}
