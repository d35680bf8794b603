#include <algorithm>

#include "tests/house/tree.hpp"
#include "tests/support/catch.hpp"

TEST_CASE("house: no file is too long to hold in the head", "[house]") {
  for (const auto& file : dtj::house::read_tree({"engine", "compiler", "tests"}, {".cpp", ".hpp", ".g4", ".def"})) {
    INFO(file.path);
    CHECK(std::count(file.text.begin(), file.text.end(), '\n') <= 600);
  }
}

TEST_CASE("house: nothing is left unfinished", "[house]") {
  // The words are put together here so that this file does not find itself.
  const std::string marks[] = {std::string("TO") + "DO", std::string("FIX") + "ME"};
  for (const auto& file : dtj::house::read_tree({"engine", "compiler", "tests", "grammar", "stdlib", "examples"},
                                                {".cpp", ".hpp", ".g4", ".def", ".dtj", ".txt"})) {
    INFO(file.path);
    for (const std::string& mark : marks) CHECK(file.text.find(mark) == std::string::npos);
  }
}
