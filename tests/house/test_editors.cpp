#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "compiler/check/units.hpp"
#include "compiler/parse/lexemes.hpp"
#include "tests/support/catch.hpp"

// The grammars of the editors know the words of the lexer and the units of the checker, no more and no fewer.

namespace {

using Words = std::set<std::string>;

std::string read(const std::string& path) {
  std::ifstream in(std::string(DTJ_SOURCE_DIR) + "/grammar/editors/" + path, std::ios::binary);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Words to_set(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }
Words language_words() { return to_set(dtj::parse::language_words()); }
Words units() {
  Words units = to_set(dtj::check::unit_spellings());
  units.erase("%");  // no letters: the grammars have it apart
  return units;
}

Words split(const std::string& text, const std::string& separators) {
  Words words;
  std::string word;
  for (const char c : text + separators.front()) {
    if (separators.find(c) == std::string::npos) {
      word += c;
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

/// Between the first `open` and the `close` after it.
std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const auto begin = text.find(open);
  REQUIRE(begin != std::string::npos);
  const auto end = text.find(close, begin + open.size());
  REQUIRE(end != std::string::npos);
  return text.substr(begin + open.size(), end - begin - open.size());
}

}  // namespace

TEST_CASE("editors: the TextMate grammar has the words of the lexer and the units", "[house]") {
  const auto grammar = nlohmann::json::parse(read("vscode/syntaxes/dtj.tmLanguage.json"));
  CHECK(grammar["scopeName"] == "source.dtj");
  Words words;
  for (const auto& pattern : grammar["repository"]["words"]["patterns"]) {
    for (const std::string& word : split(between(pattern["match"], "\\b(", ")\\b"), "|")) CHECK(words.insert(word).second);
  }
  CHECK(words == language_words());
  const std::string quantity = grammar["repository"]["numbers"]["patterns"][1]["match"];
  CHECK(split(between(quantity, "(?:(", ")\\b"), "|") == units());
  for (const auto& include : grammar["patterns"]) {
    const std::string name = include["include"].get<std::string>().substr(1);
    INFO(name);
    CHECK(grammar["repository"].contains(name));
  }
}

TEST_CASE("editors: the patterns of the TextMate grammar take what the lexer takes", "[house]") {
  const auto repository = nlohmann::json::parse(read("vscode/syntaxes/dtj.tmLanguage.json"))["repository"];
  const auto matches = [](const nlohmann::json& pattern, const std::string& text) {
    return std::regex_match(text, std::regex(pattern["match"].get<std::string>()));
  };
  for (const char* text : {"\"\"", "\"a \\\" b\"", "\"b t (h d) -> b\""}) CHECK(matches(repository["strings"], text));
  CHECK_FALSE(matches(repository["strings"], "\"open"));
  CHECK(matches(repository["placeholders"], "<data_dir>"));
  CHECK_FALSE(matches(repository["placeholders"], "<Data>"));
  for (const char* text : {"30min", "524_288tok", "2.5%", "16GiB", "1e3step"}) CHECK(matches(repository["numbers"]["patterns"][1], text));
  CHECK_FALSE(matches(repository["numbers"]["patterns"][1], "30furlong"));
  for (const char* text : {"1", "1_000", "1.5", "1e-3"}) CHECK(matches(repository["numbers"]["patterns"][2], text));
}

TEST_CASE("editors: the Vim syntax has the words of the lexer and the units", "[house]") {
  const std::string syntax = read("vim/syntax/dtj.vim");
  Words words;
  for (const char* group : {"dtjDeclaration", "dtjControl", "dtjOperatorWord", "dtjConstant"}) {
    for (const std::string& word : split(between(syntax, std::string("syn keyword ") + group + " ", "\n"), " ")) {
      CHECK(words.insert(word).second);
    }
  }
  CHECK(words == language_words());
  const std::string quantity = between(syntax, "syn match dtjQuantity ", "\n");
  CHECK(split(between(quantity, "(%\\|\\(", "\\)\\>"), "\\|") == units());
}

TEST_CASE("editors: the VS Code folder is whole", "[house]") {
  const auto package = nlohmann::json::parse(read("vscode/package.json"));
  const auto& contributes = package["contributes"];
  CHECK(contributes["languages"][0]["extensions"][0] == ".dtj");
  for (const std::string& path : {contributes["grammars"][0]["path"].get<std::string>(),
                                  contributes["languages"][0]["configuration"].get<std::string>()}) {
    CHECK_FALSE(nlohmann::json::parse(read("vscode/" + path)).empty());
  }
  CHECK(read("vscode/extension.js").find("args: ['lsp']") != std::string::npos);
}
