#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/house/tree.hpp"
#include "tests/support/catch.hpp"

// Arrows point down only: which room may include which.

namespace {

using Rooms = std::set<std::string>;

const std::map<std::string, Rooms>& floors() {
  static const Rooms engine_all = {"engine/base", "engine/plan",       "engine/device", "engine/comm",
                                   "engine/data", "engine/checkpoint", "engine/launch", "engine/monitor",
                                   "engine/run",  "engine/api"};
  static const Rooms front = {"engine/base", "compiler/source", "compiler/diagnostics", "compiler/ast", "compiler/parse"};
  static const std::map<std::string, Rooms> table = {
      {"engine/base", {}},
      {"engine/plan", {"engine/base"}},
      {"engine/device", {"engine/base", "engine/plan"}},
      {"engine/data", {"engine/base", "engine/plan"}},
      {"engine/monitor", {"engine/base", "engine/plan"}},
      {"engine/comm", {"engine/base", "engine/plan", "engine/device"}},
      {"engine/checkpoint", {"engine/base", "engine/plan", "engine/device", "engine/comm"}},
      {"engine/launch", {"engine/base", "engine/plan", "engine/device", "engine/comm", "engine/monitor"}},
      {"engine/run", engine_all},
      {"engine/api", engine_all},
      {"compiler/source", {"engine/base"}},
      {"compiler/diagnostics", {"engine/base", "compiler/source"}},
      {"compiler/ast", {"engine/base", "compiler/source"}},
      {"compiler/parse", {"engine/base", "compiler/source", "compiler/diagnostics", "compiler/ast"}},
      {"compiler/check", front},
      {"compiler/format", front},
      {"compiler/lsp", {"engine/base", "compiler/source", "compiler/diagnostics", "compiler/ast", "compiler/parse", "compiler/check", "compiler/format"}},
      {"compiler/site", {"engine/base", "compiler/source", "compiler/diagnostics"}},
      {"compiler/lint", {"engine/base", "compiler/source", "compiler/diagnostics", "compiler/ast", "compiler/parse", "compiler/check"}},
      {"compiler/ir", {"engine/base", "compiler/source"}},
      {"compiler/passes", {"engine/base", "compiler/source", "compiler/ir"}},
      {"compiler/lower", {"engine/base", "compiler/source", "compiler/check", "compiler/ir"}},
      {"compiler/codegen", {"engine/base", "engine/plan", "engine/device", "compiler/source", "compiler/ir"}},
      {"compiler/dtjc", {}},
  };
  return table;
}

/// "compiler/codegen/host/x.cpp" -> "compiler/codegen"
std::string room_of(const std::string& path) {
  const auto first = path.find('/');
  const auto second = path.find('/', first + 1);
  return second == std::string::npos ? path.substr(0, first) : path.substr(0, second);
}

std::vector<std::string> includes_of(const std::string& text) {
  static const std::regex include(R"re(^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">])re", std::regex::multiline);
  std::vector<std::string> found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), include); it != std::sregex_iterator(); ++it) {
    found.push_back((*it)[1].str());
  }
  return found;
}

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

}  // namespace

TEST_CASE("house: includes go down the floors", "[house]") {
  for (const auto& file : dtj::house::read_tree({"engine", "compiler"}, {".hpp", ".cpp", ".h", ".def"})) {
    const std::string room = room_of(file.path);
    if (room == "compiler/api" || starts_with(file.path, "compiler/compile.")) continue;  // the top floor sees all
    const auto entry = floors().find(room);
    INFO(file.path);
    REQUIRE(entry != floors().end());
    for (const std::string& include : includes_of(file.text)) {
      if (!starts_with(include, "engine/") && !starts_with(include, "compiler/")) continue;
      const std::string target = room_of(include);
      INFO("includes " << include);
      CHECK((target == room || entry->second.count(target) == 1));
      // Of the device room, codegen may know the kernel loader alone.
      if (room == "compiler/codegen" && target == "engine/device") CHECK(include == "engine/device/kernel_loader.hpp");
    }
  }
}

TEST_CASE("house: each heavy library has one room", "[house]") {
  const std::map<std::string, std::string> rooms = {
      {"antlr4", "compiler/parse/"},      {"llvm/", "compiler/codegen/host/"}, {"oneapi/dnnl", "engine/device/host/"},
      {"dnnl", "engine/device/host/"},    {"CLI/", "compiler/dtjc/"},          {"gloo/", "engine/comm/gloo/"},
      {"cuda", "engine/device/cuda/"},    {"nccl", "engine/comm/nccl/"},       {"xxhash", "engine/base/"},
      {"zlib", "engine/data/"},
      {"re2/", "compiler/lint/"}};
  for (const auto& file : dtj::house::read_tree({"engine", "compiler"}, {".hpp", ".cpp", ".h"})) {
    for (const std::string& include : includes_of(file.text)) {
      for (const auto& [library, room] : rooms) {
        if (!starts_with(include, library)) continue;
        INFO(file.path << " includes " << include);
        CHECK(starts_with(file.path, room));
      }
    }
  }
}

TEST_CASE("house: the command line sees the public header only", "[house]") {
  for (const auto& file : dtj::house::read_tree({"compiler/dtjc", "engine/api/include"}, {".hpp", ".cpp", ".h"})) {
    for (const std::string& include : includes_of(file.text)) {
      INFO(file.path << " includes " << include);
      CHECK_FALSE(starts_with(include, "engine/"));
      CHECK_FALSE(starts_with(include, "compiler/"));
    }
  }
}
