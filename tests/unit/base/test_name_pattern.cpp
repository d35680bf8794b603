#include <string>

#include "engine/base/name_pattern.hpp"
#include "tests/support/catch.hpp"

using dtj::NamePattern;

namespace {

NamePattern pattern(const std::string& text) {
  auto parsed = NamePattern::parse(text);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("name pattern: a part has no dot and is not empty", "[unit][base]") {
  const auto blocks = pattern("h.{i}.attn.weight");
  CHECK(blocks.match("h.11.attn.weight")->at("i") == "11");
  CHECK_FALSE(blocks.matches("h.1.2.attn.weight"));
  CHECK_FALSE(blocks.matches("h..attn.weight"));
  CHECK_FALSE(blocks.matches("h.1.attn.weight2"));
}

TEST_CASE("name pattern: a star is any text", "[unit][base]") {
  CHECK(pattern("*.bias").matches("h.0.mlp.fc.bias"));
  CHECK_FALSE(pattern("*.bias").matches("bias"));
  CHECK(pattern("*").matches("wte.weight"));
  CHECK(pattern("h.*.ln1.*").matches("h.3.ln1.weight"));
  CHECK_FALSE(pattern("wte").matches("wte.weight"));
  CHECK_FALSE(pattern("wte.weight").matches("wte.weights"));
}

TEST_CASE("name pattern: what one pattern captures fills another", "[unit][base]") {
  const auto from = pattern("transformer.h.{i}.ln_{n}.*");
  const auto to = pattern("h.{i}.ln{n}.*");
  CHECK(to.substitute(*from.match("transformer.h.4.ln_2.bias")) == "h.4.ln2.bias");
  CHECK(from.substitute(*to.match("h.4.ln2.bias")) == "transformer.h.4.ln_2.bias");
  CHECK(to.wildcards() == std::vector<std::string>{"i", "n", "*1"});
}

TEST_CASE("name pattern: what is wrong is said", "[unit][base]") {
  CHECK(NamePattern::parse("h.{i.x").error().message == "`{` has no `}`");
  CHECK(NamePattern::parse("h.i}.x").error().message == "`}` has no `{`");
  CHECK(NamePattern::parse("h.{}.x").error().message == "`{}` holds no name such as `{i}`");
  CHECK(NamePattern::parse("h.{i}.{i}").error().message == "`{i}` stands twice");
  CHECK(NamePattern::parse("").error().message == "the pattern is empty");
  CHECK(NamePattern::parse("a b").error().message == "a name has no spaces");
  CHECK(NamePattern::parse("*********").error().message == "there are more than 8 wildcards");
}
