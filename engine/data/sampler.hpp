#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/job_spec.hpp"
#include "engine/base/result.hpp"
#include "engine/data/data.hpp"

namespace dtj::data {

/// What the samples of a step are: a pure function of (seed, epoch, position), the same on every rank and for every
/// data-parallel degree. Sample i of micro batch m of step s on rank r stands at position
/// s * global_batch + m * dp * micro_batch + r * micro_batch + i of the epoch.
class Sampler {
 public:
  /// `num_samples` is the size of the data set, `dp` the data-parallel degree.
  /// Errors: invalid_argument (no sample, or fewer than one global batch when the last batch is dropped).
  static Result<Sampler> create(const DataSpec& spec, std::int64_t num_samples, std::int64_t dp);

  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  std::int64_t global_batch() const { return global_batch_; }
  std::int64_t micro_batch() const { return micro_batch_; }
  std::int64_t num_micro_batches() const { return num_micro_batches_; }

  /// Position in the epoch of the first sample of a micro batch.
  std::int64_t position(std::int64_t step_in_epoch, std::int64_t micro, std::int64_t rank) const {
    return step_in_epoch * global_batch_ + (micro * dp_ + rank) * micro_batch_;
  }
  /// none = padding after the end of the data set.
  std::optional<SampleId> sample(std::int64_t epoch, std::int64_t position) const;

 private:
  Sampler() = default;

  SamplerKind kind_ = SamplerKind::sequential;
  std::uint64_t seed_ = 0;
  std::int64_t num_samples_ = 0;
  std::int64_t dp_ = 1;
  std::int64_t global_batch_ = 1;
  std::int64_t micro_batch_ = 1;
  std::int64_t num_micro_batches_ = 1;
  std::int64_t steps_per_epoch_ = 0;
};

}  // namespace dtj::data
