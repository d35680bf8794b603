#include <map>
#include <regex>
#include <set>

#include "tests/house/tree.hpp"
#include "tests/support/catch.hpp"

namespace {

/// namespace::Name of every type that a file defines at the top of a namespace, anonymous ones left out.
std::set<std::string> types_of(const std::string& text) {
  static const std::regex opening(R"(^namespace ?([\w:]*) ?\{)");
  static const std::regex type(R"(^(?:struct|class|enum class) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : [^;{]*)?(?: \{.*)?$)");
  std::vector<std::string> names;
  std::set<std::string> types;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, opening)) {
      names.push_back(match[1].str());
    } else if (line.rfind("}  // namespace", 0) == 0 && !names.empty()) {
      names.pop_back();
    } else if (std::regex_search(line, match, type)) {
      std::string name;
      for (const std::string& part : names) name += part.empty() ? "(anonymous)::" : part + "::";
      if (name.find("(anonymous)") == std::string::npos) types.insert(name + match[1].str());
    }
  }
  return types;
}

}  // namespace

TEST_CASE("house: a type has one definition", "[house]") {
  // Two types of one name in one namespace link without a word, and each runs the code of the other.
  CHECK(types_of("namespace a {\nnamespace {\nstruct X {\n}\n}  // namespace\nstruct Y {\nenum class Z : int {\nstruct W;\n") ==
        std::set<std::string>{"a::Y", "a::Z"});
  std::map<std::string, std::string> homes;
  for (const auto& file : dtj::house::read_tree({"engine", "compiler"}, {".cpp", ".hpp"})) {
    for (const std::string& type : types_of(file.text)) {
      const auto [home, is_new] = homes.emplace(type, file.path);
      INFO(type << " is defined in " << home->second << " and in " << file.path);
      CHECK(is_new);
    }
  }
  CHECK(homes.size() > 200);
}
