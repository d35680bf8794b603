#include <regex>

#include "tests/house/tree.hpp"
#include "tests/support/catch.hpp"

TEST_CASE("house: every header has a guard", "[house]") {
  for (const auto& file : dtj::house::read_tree({"engine", "compiler", "tests"}, {".hpp"})) {
    INFO(file.path);
    CHECK(file.text.find("#pragma once") != std::string::npos);
  }
}

TEST_CASE("house: the library does not exit, print to stdout, or take signals", "[house]") {
  // What would surprise a host that embeds the library. The launcher's child may leave by _exit between fork and exec.
  const std::regex forbidden(R"re(\b(std::exit|std::abort|std::cout|printf|setenv|putenv|chdir|umask|setlocale|sigaction|std::signal|atexit)\s*\()re");
  for (const auto& file : dtj::house::read_tree({"engine", "compiler"}, {".cpp", ".hpp"})) {
    if (file.path.rfind("compiler/dtjc/", 0) == 0) continue;
    std::smatch match;
    INFO(file.path);
    const bool found = std::regex_search(file.text, match, forbidden);
    INFO((found ? match[0].str() : std::string()));
    CHECK_FALSE(found);
  }
}
