#include <cmath>
#include <vector>

#include "engine/base/philox.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using Words = std::array<std::uint32_t, 4>;

TEST_CASE("philox4x32: known answers", "[unit][base]") {
  // The vectors published with the authors' library (Random123, kat_vectors).
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox stream: a position gives one value, streams differ", "[unit][base]") {
  const PhiloxStream a(7, 1), b(7, 2), c(8, 1);
  CHECK(a.bits(12345) == PhiloxStream(7, 1).bits(12345));
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) equal += (a.bits(i) == b.bits(i)) + (a.bits(i) == c.bits(i));
  CHECK(equal == 0);
}

TEST_CASE("philox stream: uniform and normal have their moments", "[unit][base]") {
  const PhiloxStream stream(3, 4);
  constexpr int count = 200000;
  double uniform_sum = 0, normal_sum = 0, normal_squares = 0, neighbours = 0;
  for (int i = 0; i < count; ++i) {
    const float uniform = stream.uniform(static_cast<std::uint64_t>(i));
    const float normal = stream.normal(static_cast<std::uint64_t>(i));
    REQUIRE(uniform >= 0.0f);
    REQUIRE(uniform < 1.0f);
    REQUIRE(std::isfinite(normal));
    uniform_sum += uniform;
    normal_sum += normal;
    normal_squares += static_cast<double>(normal) * normal;
    neighbours += static_cast<double>(normal) * stream.normal(static_cast<std::uint64_t>(i) + 1);
  }
  CHECK(std::abs(uniform_sum / count - 0.5) < 0.005);
  CHECK(std::abs(normal_sum / count) < 0.01);
  CHECK(std::abs(normal_squares / count - 1.0) < 0.02);
  CHECK(std::abs(neighbours / count) < 0.01);
}

TEST_CASE("permute: a bijection for every size", "[unit][base]") {
  for (const std::uint64_t size : {1u, 2u, 3u, 4u, 5u, 7u, 16u, 17u, 100u, 1023u, 1024u, 1025u, 60000u}) {
    for (const std::uint64_t key : {0ull, 1ull, 0xdeadbeefull}) {
      std::vector<bool> seen(size, false);
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t to = permute(i, size, key);
        REQUIRE(to < size);
        REQUIRE_FALSE(seen[to]);
        seen[to] = true;
      }
    }
  }
}

TEST_CASE("permute: sizes beyond 32 bits stay inside", "[unit][base]") {
  const std::uint64_t size = 0xfffffffffffffff1ull;
  for (std::uint64_t i = 0; i < 100; ++i) CHECK(permute(i, size, 5) < size);
  CHECK(permute(1, size, 5) != permute(2, size, 5));
}

TEST_CASE("permute: keys give different orders", "[unit][base]") {
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) same += permute(i, 1000, 1) == permute(i, 1000, 2);
  CHECK(same < 20);
  // Neighbours do not stay neighbours.
  int adjacent = 0;
  for (std::uint64_t i = 0; i + 1 < 1000; ++i) adjacent += permute(i, 1000, 1) + 1 == permute(i + 1, 1000, 1);
  CHECK(adjacent < 20);
}
