#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/log.hpp"
#include "engine/base/result.hpp"
#include "engine/base/units.hpp"

namespace dtj::launch {

/// What a rank process learns from its launcher, through environment variables DTJ_*.
struct RankEnvironment {
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  std::int64_t local_rank = 0;
  std::string plan_path;
  std::string shm_segment;
  std::string run_dir;       ///< private scratch folder of this run: plan, journals, reports
  std::vector<int> cores;    ///< cores of this rank; empty = not pinned
};

/// none = this process was not started by `launch_local`. Errors: invalid_argument (incomplete or malformed).
Result<std::optional<RankEnvironment>> read_rank_environment();

struct LocalLaunch {
  std::vector<std::string> command;  ///< argv of a rank process
  std::int64_t world_size = 1;
  std::int64_t threads_per_rank = 1;
  bool bind_cores = true;
  std::string plan_path;
  std::string run_dir;
  Duration kill_grace = std::chrono::seconds(5);  ///< between SIGTERM and SIGKILL when a rank has died
  const std::atomic<int>* stop_request = nullptr;  ///< non-zero is passed on as SIGTERM, once
};

/// How one rank ended.
struct RankExit {
  std::int64_t rank = 0;
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool killed_by_launcher = false;
};

struct LaunchReport {
  std::vector<RankExit> ranks;
  /// The first rank that failed by itself, if any, with what its journal says:
  /// "rank 1 was killed by SIGKILL at step 37 in all_reduce `bucket 0`"
  std::optional<std::int64_t> first_failed;
  std::string message;
};

/// Starts the ranks on this host, one core set each, and waits for them. When one dies, the shared segment is marked as
/// aborted, the others get SIGTERM, after `kill_grace` SIGKILL; the ranks die with the launcher. No orphans, no leaked
/// shared memory. Errors: unavailable (cannot start a process).
Result<LaunchReport> launch_local(const LocalLaunch& launch, const Logger& log);

}  // namespace dtj::launch
