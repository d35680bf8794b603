#pragma once

#include <cstdint>
#include <vector>

namespace dtj::launch {

/// Cores that this process may run on, ascending.
std::vector<int> allowed_cores();

/// One set of `threads_per_rank` neighbouring cores per rank, or no sets when there are too few cores: sharing a core
/// between pinned threads is worse than leaving them to the kernel.
std::vector<std::vector<int>> divide_cores(const std::vector<int>& cores, std::int64_t world_size,
                                           std::int64_t threads_per_rank);

}  // namespace dtj::launch
