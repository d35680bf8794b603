#include "engine/base/units.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace dtj {
namespace {

std::string time_to_string(double seconds) {
  const bool is_whole = seconds == std::floor(seconds) && std::abs(seconds) < 1e15;
  if (is_whole && seconds != 0) {
    const auto whole = static_cast<std::int64_t>(seconds);
    if (whole % 3600 == 0) return fmt::format("{}h", whole / 3600);
    if (whole % 60 == 0) return fmt::format("{}min", whole / 60);
  }
  return fmt::format("{}s", seconds);
}

}  // namespace

std::string to_string(Bytes bytes) {
  constexpr std::array<const char*, 5> names = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (std::abs(static_cast<double>(bytes.count)) < 1024) return fmt::format("{} B", bytes.count);
  double value = static_cast<double>(bytes.count) / 1024;
  std::size_t unit = 0;
  // Values that would print as "1024.0" belong to the next unit.
  while (std::abs(value) >= 1023.95 && unit + 1 < names.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, names[unit]);
}

std::string to_string(const Progress& progress) {
  switch (progress.unit) {
    case ProgressUnit::step:
      return fmt::format("{}step", progress.amount);
    case ProgressUnit::epoch:
      return fmt::format("{}epoch", progress.amount);
    case ProgressUnit::sample:
      return fmt::format("{}sample", progress.amount);
    case ProgressUnit::tok:
      return fmt::format("{}tok", progress.amount);
    case ProgressUnit::time:
      return time_to_string(progress.amount);
  }
  return {};
}

}  // namespace dtj
