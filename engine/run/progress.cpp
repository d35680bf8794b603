#include "engine/run/progress.hpp"

#include <algorithm>
#include <cmath>

namespace dtj::run {

std::optional<std::int64_t> to_steps(const Progress& progress, const StepSize& size) {
  double steps = progress.amount;
  switch (progress.unit) {
    case ProgressUnit::step:
      steps = std::ceil(steps);
      break;
    case ProgressUnit::epoch:
      steps = std::round(steps * static_cast<double>(size.steps_per_epoch));
      break;
    case ProgressUnit::sample:
      steps = std::ceil(steps / static_cast<double>(size.samples));
      break;
    case ProgressUnit::tok:
      steps = std::ceil(steps / static_cast<double>(size.samples * size.tokens_per_sample));
      break;
    case ProgressUnit::time:
      return std::nullopt;
  }
  // Beyond this, doubles skip whole numbers; nobody trains so long.
  return static_cast<std::int64_t>(std::clamp(steps, 1.0, 9e15));
}

Intervals::Intervals(const std::vector<Progress>& every, const StepSize& size) {
  for (const Progress& progress : every) {
    if (const auto steps = to_steps(progress, size)) {
      steps_.push_back(*steps);
    } else {
      seconds_ = std::min(progress.amount, seconds_.value_or(progress.amount));
    }
  }
}

bool Intervals::is_due_at(std::int64_t step) const {
  return std::any_of(steps_.begin(), steps_.end(), [step](std::int64_t interval) { return step % interval == 0; });
}

bool Intervals::is_due_after(double seconds) const {
  return seconds_ && seconds >= *seconds_;
}

}  // namespace dtj::run
