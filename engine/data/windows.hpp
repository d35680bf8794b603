#pragma once

#include <cstdint>

#include "engine/base/job_spec.hpp"

namespace dtj::data {

/// How a run of tokens is cut into samples of seq + 1 tokens: sample i starts at i * seq + offset. With a shuffling
/// sampler the offset in [0, seq) is a function of (seed, epoch), so that epochs differ; without one it is 0.
class Windows {
 public:
  explicit Windows(const DataSpec& spec);

  std::int64_t seq() const { return seq_; }
  std::int64_t offset(std::int64_t epoch) const;
  /// Of `num_tokens` tokens in one piece; the same in every epoch.
  std::int64_t num_windows(std::int64_t num_tokens) const;
  /// The fewest tokens that hold one window in every epoch.
  std::int64_t min_tokens() const { return seq_ + 1 + max_offset_; }

 private:
  std::int64_t seq_;
  std::int64_t max_offset_;
  std::uint64_t seed_;
};

}  // namespace dtj::data
