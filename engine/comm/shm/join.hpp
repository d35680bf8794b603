#pragma once

#include <memory>

#include "engine/base/result.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/comm/group/board.hpp"
#include "engine/comm/shm/segment.hpp"

namespace dtj::comm::shm {

/// What a rank holds once all have joined.
struct Joined {
  Segment segment;
  std::unique_ptr<Mapping> mapping;
};

/// Rank 0 makes the segment, the others find it; returns when everybody is in and the name is gone.
/// Errors: deadline_exceeded (names the missing ranks), aborted (a rank died meanwhile), invalid_argument (two callers
/// with one rank, or another world size), unavailable, out_of_memory.
Result<Joined> join(const ShmOptions& options);

/// Whether the process of this rank has ended.
bool has_ended(const group::Board& board, std::int64_t rank);

}  // namespace dtj::comm::shm
