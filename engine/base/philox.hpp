#pragma once

#include <array>
#include <cstdint>

namespace dtj {

/// Counter-based random numbers, Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
/// The same (key, counter) gives the same four words on every machine.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// One logical stream: (seed, stream) is the key, the index is the counter.
class PhiloxStream {
 public:
  PhiloxStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 32 random bits at logical position `index`.
  std::uint32_t bits(std::uint64_t index) const;
  /// In [0, 1), 24 bits.
  float uniform(std::uint64_t index) const;
  /// Standard normal by Box-Muller in f64, rounded to f32.
  float normal(std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

/// A pseudo-random permutation of [0, size): the position of `index` under `key`. O(1) time and memory
/// (Feistel network with cycle walking), so the data order is a function of (seed, epoch, index).
std::uint64_t permute(std::uint64_t index, std::uint64_t size, std::uint64_t key);

}  // namespace dtj
