#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dtj {

/// A number of bytes.
struct Bytes {
  std::int64_t count = 0;

  friend bool operator==(Bytes a, Bytes b) { return a.count == b.count; }
  friend bool operator!=(Bytes a, Bytes b) { return a.count != b.count; }
  friend bool operator<(Bytes a, Bytes b) { return a.count < b.count; }
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
};

/// "12.5 MiB"
std::string to_string(Bytes bytes);

using Duration = std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// What an interval of a training run is counted in.
enum class ProgressUnit : std::uint8_t { step, epoch, sample, tok, time };

/// `500step`, `2epoch`, `30min`; for `time` the amount is in seconds.
struct Progress {
  double amount = 0;
  ProgressUnit unit = ProgressUnit::step;
};

std::string to_string(const Progress& progress);

}  // namespace dtj
