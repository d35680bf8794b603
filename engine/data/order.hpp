#pragma once

#include <array>
#include <cstdint>

#include "engine/base/hash.hpp"

namespace dtj::data {

/// Independent streams of decisions about the data order.
enum class OrderStream : std::uint64_t { permutation = 1, window_offset = 2 };

/// The only source of randomness in the data order: a function of the sampler's seed and the epoch.
inline std::uint64_t order_key(std::uint64_t seed, std::int64_t epoch, OrderStream stream) {
  const std::array<std::uint64_t, 3> words{seed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(stream)};
  return hash64(words.data(), sizeof words);
}

}  // namespace dtj::data
