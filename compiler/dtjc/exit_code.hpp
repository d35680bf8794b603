#pragma once

#include "dtj/dtj.hpp"

namespace dtjc {

/// The process exit codes of dtjc; README.md lists them.
enum ExitCode : int {
  exit_ok = 0,
  exit_diagnostics = 1,
  exit_unbound = 3,
  exit_unfit = 4,
  exit_numerics = 5,
  exit_lost_rank = 6,
  exit_usage = 64,
  exit_internal = 70,
  exit_preempted = 75,
  exit_interrupted = 130,
};

inline ExitCode exit_code(dtj::RunOutcome outcome) {
  switch (outcome) {
    case dtj::RunOutcome::finished: return exit_ok;
    case dtj::RunOutcome::diverged: return exit_numerics;
    case dtj::RunOutcome::preempted: return exit_preempted;
    case dtj::RunOutcome::cancelled: return exit_interrupted;
    case dtj::RunOutcome::lost_rank: return exit_lost_rank;
    case dtj::RunOutcome::environment_unfit: return exit_unfit;
    case dtj::RunOutcome::bad_input: return exit_unfit;
    case dtj::RunOutcome::internal_error: return exit_internal;
  }
  return exit_internal;
}

}  // namespace dtjc
