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
#include "engine/comm/communicator.hpp"
#include "engine/device/device.hpp"
#include "engine/device/kernel_loader.hpp"
#include "engine/monitor/journal.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::run {

/// One log line of training. All values are global and equal on every rank, the time split is this rank's.
struct StepReport {
  std::int64_t step = 0;  ///< 1-based: steps done
  std::int64_t total_steps = 0;
  double epoch = 0;
  std::map<std::string, double> metrics;  ///< "loss", ...
  double gradient_norm = 0;
  double learning_rate = 0;
  double samples_per_second = 0;
  double tokens_per_second = 0;  ///< 0 for images
  double seconds_data = 0, seconds_compute = 0, seconds_communication = 0, seconds_other = 0;  ///< since the last report
};

struct EvalReport {
  std::int64_t step = 0;
  std::map<std::string, double> metrics;
  std::int64_t num_samples = 0;
  bool goal_met = false;
};

struct CheckpointReport {
  std::int64_t step = 0;
  std::string path;
  double seconds = 0;
  Bytes size;
};

/// Called on the training thread. Every one may be empty.
struct TrainerCallbacks {
  std::function<void(const StepReport&)> on_step;      ///< every step, also between log lines
  std::function<void(const StepReport&)> on_log;       ///< every train.log_every
  std::function<void(const EvalReport&)> on_eval;
  std::function<void(const CheckpointReport&)> on_checkpoint;
  Logger log;
};

enum class RunStatus {
  finished,    ///< reached `stop`
  diverged,    ///< loss or gradient is not finite; the last checkpoint stays
  preempted,   ///< asked to stop, and a checkpoint was written
  cancelled,   ///< asked to stop, no checkpoint
};

struct RunSummary {
  RunStatus status = RunStatus::finished;
  std::int64_t steps = 0;
  std::int64_t resumed_from = 0;  ///< 0 = from the start
  std::map<std::string, double> last_metrics;
  std::optional<EvalReport> last_eval;
  double train_seconds = 0;  ///< without start-up
  std::string message;
};

/// Set from another thread or a signal handler; read at the step boundary.
enum class StopRequest : int { none = 0, cancel = 1, preempt = 2 };

struct TrainerOptions {
  bool resume = true;           ///< continue from the newest valid checkpoint if there is one
  std::string metrics_path;     ///< JSON lines, written by rank 0; "" = none
  const std::atomic<int>* stop_request = nullptr;  ///< a StopRequest
  std::optional<std::int64_t> max_steps;           ///< for tests and probes: stop earlier
};

/// Runs the job of the plan on this rank to its end: resume or initialise, train, evaluate, checkpoint.
/// Errors: not_found / data_loss / invalid_argument (data or checkpoint files, with the file named),
/// aborted and deadline_exceeded (a peer), unavailable (disk), all the same on every rank where that is possible.
Result<RunSummary> train(const plan::ExecutionPlan& plan, device::Device& device, comm::Communicator& communicator,
                         device::KernelLoader& loader, monitor::Journal* journal, const TrainerOptions& options,
                         const TrainerCallbacks& callbacks);

}  // namespace dtj::run
