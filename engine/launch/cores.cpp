#include "engine/launch/cores.hpp"

#include <sched.h>

#include <cstddef>

namespace dtj::launch {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

std::vector<std::vector<int>> divide_cores(const std::vector<int>& cores, std::int64_t world_size,
                                           std::int64_t threads_per_rank) {
  std::vector<std::vector<int>> sets;
  if (static_cast<std::int64_t>(cores.size()) < world_size * threads_per_rank) return sets;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    const auto first = cores.begin() + rank * threads_per_rank;
    sets.emplace_back(first, first + threads_per_rank);
  }
  return sets;
}

}  // namespace dtj::launch
