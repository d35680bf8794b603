#pragma once

#include <cstdint>
#include <optional>

namespace dtj::comm::shm {

/// A process that cannot be mistaken for a later one with the same number.
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks after boot
};

ProcessId this_process();
/// Not running any more: gone, a zombie, or another process by now.
bool has_ended(const ProcessId& process);

}  // namespace dtj::comm::shm
