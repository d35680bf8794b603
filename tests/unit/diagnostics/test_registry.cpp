#include <cctype>
#include <set>

#include "compiler/diagnostics/diagnostics.hpp"
#include "tests/support/catch.hpp"

using dtj::diag::info;
using dtj::diag::Kind;
using dtj::diag::Severity;

TEST_CASE("registry: every kind has a name, a code and a summary", "[unit][diagnostics]") {
  REQUIRE(dtj::diag::num_kinds() > 0);
  for (std::size_t i = 0; i < dtj::diag::num_kinds(); ++i) {
    const auto& kind = info(static_cast<Kind>(i));
    INFO(kind.code << " " << kind.name);
    CHECK_FALSE(kind.name.empty());
    CHECK_FALSE(kind.summary.empty());
    CHECK(kind.summary.back() != '.');
    REQUIRE(kind.code.size() == 4);
    CHECK(kind.code.find_first_not_of("0123456789", 1) == std::string_view::npos);
    const char letter = kind.severity == Severity::error ? 'E' : kind.severity == Severity::warning ? 'W' : 'N';
    CHECK(kind.code[0] == letter);
  }
}

TEST_CASE("registry: names and codes are unique, and codes are in order", "[unit][diagnostics]") {
  std::set<std::string_view> names;
  std::string_view before;
  for (std::size_t i = 0; i < dtj::diag::num_kinds(); ++i) {
    const auto& kind = info(static_cast<Kind>(i));
    INFO(kind.code << " after " << before);
    CHECK(names.insert(kind.name).second);
    CHECK(before < kind.code);
    before = kind.code;
  }
}

TEST_CASE("registry: a kind finds its own row", "[unit][diagnostics]") {
  CHECK(info(Kind::world_size_mismatch).code == "E101");
  CHECK(info(Kind::world_size_mismatch).name == "world_size_mismatch");
  CHECK(info(Kind::unbound_placeholder).severity == Severity::note);
}
