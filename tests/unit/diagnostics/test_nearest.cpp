#include "compiler/diagnostics/diagnostics.hpp"
#include "tests/support/catch.hpp"

using dtj::diag::nearest;

TEST_CASE("nearest: finds a name with a letter lost, added, changed or swapped", "[unit][diagnostics]") {
  const std::vector<std::string> keys = {"global_batch", "micro_batch", "sampler", "seq", "source"};
  CHECK(nearest("global_batc", keys) == "global_batch");
  CHECK(nearest("samplerr", keys) == "sampler");
  CHECK(nearest("soarce", keys) == "source");
  CHECK(nearest("sqe", keys) == "seq");
}

TEST_CASE("nearest: case matters least", "[unit][diagnostics]") {
  CHECK(nearest("linear", {"LineaR2", "Linear"}) == "Linear");
  CHECK(nearest("Gib", {"GB", "GiB"}) == "GiB");
}

TEST_CASE("nearest: gives nothing for a name that resembles none", "[unit][diagnostics]") {
  CHECK_FALSE(nearest("walltime", {"nodes", "device"}));
  CHECK_FALSE(nearest("x", {"y", "z"}));
  CHECK_FALSE(nearest("abc", {}));
  CHECK_FALSE(nearest(std::string(5000, 'a'), {std::string(4999, 'a')}));
}

TEST_CASE("nearest: prefers the closest, and the first of equals", "[unit][diagnostics]") {
  CHECK(nearest("normal", {"normol", "norma1", "formal"}) == "normol");
  CHECK(nearest("keeep", {"kee", "keep"}) == "keep");
}
