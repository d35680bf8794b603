#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/units.hpp"

namespace dtj::run {

/// How big a step is, in the other units of progress.
struct StepSize {
  std::int64_t steps_per_epoch = 1;
  std::int64_t samples = 1;  ///< global batch
  std::int64_t tokens_per_sample = 1;
};

/// At least 1; none for a time. Epochs are rounded to the nearest step, samples and tokens up.
std::optional<std::int64_t> to_steps(const Progress& progress, const StepSize& size);

/// When something is due that is repeated at intervals, whichever comes first.
class Intervals {
 public:
  Intervals() = default;
  Intervals(const std::vector<Progress>& every, const StepSize& size);

  /// Is it due after this number of steps, by the intervals that are counted in steps?
  bool is_due_at(std::int64_t step) const;
  /// Is it due by the intervals that are times, this long after the last one? Ranks may see this differently.
  bool is_due_after(double seconds) const;

 private:
  std::vector<std::int64_t> steps_;
  std::optional<double> seconds_;
};

}  // namespace dtj::run
