#include "engine/base/philox.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include <gsl/assert>

namespace dtj {
namespace {

// Multipliers and Weyl increments of Philox4x32 (Salmon et al., SC 2011, table 2 and section 4.3).
constexpr std::uint32_t multiplier_0 = 0xD2511F53u;
constexpr std::uint32_t multiplier_1 = 0xCD9E8D57u;
constexpr std::uint32_t weyl_0 = 0x9E3779B9u;
constexpr std::uint32_t weyl_1 = 0xBB67AE85u;
constexpr int num_rounds = 10;

std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}
std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}

std::array<std::uint32_t, 4> block(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  return philox4x32({low(counter), high(counter), low(stream), high(stream)}, {low(seed), high(seed)});
}

float to_unit(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}

// The finaliser of splitmix64: every output bit depends on every input bit.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < num_rounds; ++round) {
    const std::uint64_t product_0 = static_cast<std::uint64_t>(multiplier_0) * counter[0];
    const std::uint64_t product_1 = static_cast<std::uint64_t>(multiplier_1) * counter[2];
    counter = {high(product_1) ^ counter[1] ^ key[0], low(product_1), high(product_0) ^ counter[3] ^ key[1],
               low(product_0)};
    key[0] += weyl_0;
    key[1] += weyl_1;
  }
  return counter;
}

std::uint32_t PhiloxStream::bits(std::uint64_t index) const {
  return block(seed_, stream_, index / 4)[index % 4];
}

float PhiloxStream::uniform(std::uint64_t index) const {
  return to_unit(bits(index));
}

float PhiloxStream::normal(std::uint64_t index) const {
  // Box-Muller on the two halves of a block; a pair of words gives two normals, told apart by cosine and sine.
  const std::uint64_t pair = index / 2;
  const auto words = block(seed_, stream_, pair / 2);
  const std::uint32_t first = words[(pair % 2) * 2];
  const std::uint32_t second = words[(pair % 2) * 2 + 1];
  const double u = (static_cast<double>(first) + 1.0) * 0x1p-32;  // in (0, 1]: the logarithm stays finite
  const double angle = 2.0 * std::numbers::pi * (static_cast<double>(second) * 0x1p-32);
  const double radius = std::sqrt(-2.0 * std::log(u));
  return static_cast<float>(radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle)));
}

std::uint64_t permute(std::uint64_t index, std::uint64_t size, std::uint64_t key) {
  Expects(index < size);
  if (size == 1) return 0;
  const int half_bits = (std::bit_width(size - 1) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  // The network permutes [0, 4^half_bits), at most four times `size`; values outside the range walk on along their
  // cycle until they come back into it.
  std::uint64_t value = index;
  do {
    std::uint64_t left = value >> half_bits;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < 6; ++round) {
      const std::uint64_t next = left ^ (mix(right + mix(key + round * 0x9e3779b97f4a7c15ull)) & mask);
      left = right;
      right = next;
    }
    value = (left << half_bits) | right;
  } while (value >= size);
  return value;
}

}  // namespace dtj
