#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.hpp"
#include "engine/base/units.hpp"
#include "engine/launch/launch.hpp"

namespace dtj::launch {

/// "DTJ_RANK=0", ...: what read_rank_environment reads.
std::vector<std::string> rank_variables(const RankEnvironment& environment);

struct ExitStatus {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

/// A child in a process group of its own, so that a terminal's Ctrl-C reaches the launcher only. It dies with the
/// thread that started it; if it still lives when the object goes, it is killed.
class ChildProcess {
 public:
  /// Standard input is /dev/null; the child runs on `cores` if there are any.
  /// Errors: unavailable (fork), not_found or unavailable (exec), with the program's name.
  static Result<ChildProcess> start(const std::vector<std::string>& command, const std::vector<std::string>& variables,
                                    const std::vector<int>& cores);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  bool is_running() const { return pid_ > 0; }
  void send_signal(int signal) const;
  /// none = it still runs.
  std::optional<ExitStatus> poll();
  /// Becomes readable when the child ends; -1 where the kernel has no such thing.
  int pidfd() const { return pidfd_; }

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;
  int pidfd_ = -1;
};

/// Sleeps until a child ends or `limit` is over.
void wait_for_any(const std::vector<ChildProcess>& children, Duration limit);

}  // namespace dtj::launch
