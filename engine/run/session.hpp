#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/checkpoint/checkpoint.hpp"
#include "engine/data/loader.hpp"
#include "engine/monitor/metrics.hpp"
#include "engine/run/agreement.hpp"
#include "engine/run/executor.hpp"
#include "engine/run/progress.hpp"
#include "engine/run/trainer.hpp"

namespace dtj::run {

/// A data section that is being read.
struct DataFeed {
  DataSpec spec;
  std::unique_ptr<data::Dataset> dataset;
  std::optional<data::Sampler> sampler;
  std::unique_ptr<data::Loader> loader;
  std::vector<std::byte*> ports;  ///< one per field, in the batch arena
};

/// What every part of the trainer works on: one rank's run, from its set-up to its end.
struct Session {
  const plan::ExecutionPlan& plan;
  Peers peers;
  monitor::Journal* journal;
  const TrainerOptions& options;
  const TrainerCallbacks& callbacks;

  std::unique_ptr<Executor> executor{};
  std::unique_ptr<monitor::MetricsWriter> metrics{};  ///< on rank 0, if asked for
  DataFeed train{}, eval{};
  StepSize step_size{};
  std::optional<std::int64_t> total_steps{};  ///< none: `stop` is a time
  std::int64_t num_eval_steps = 0;
  Intervals checkpoint_every{};
  std::optional<checkpoint::FolderLock> checkpoint_lock{};  ///< on rank 0

  std::int64_t step = 0;  ///< steps done
  std::int64_t resumed_from = 0;
  std::optional<std::int64_t> saved_step{};
  Deadline start{};  ///< of the loop
  Deadline last_save{};
  double earlier_seconds = 0;  ///< trained before the resume
  std::map<std::string, double> last_metrics{};
  double last_learning_rate = 0;

  const JobSpec& job() const { return plan.job; }
  /// Tells the journal what is done now, at the step that is being worked on or the last one that is done.
  void enter(const char* phase, std::int64_t at) const {
    if (journal != nullptr) journal->set_step(at, phase);
  }
  void enter(const char* phase) const { enter(phase, step); }
  void log(LogLevel level, const std::string& text) const {
    if (callbacks.log) callbacks.log(level, text);
  }
};

double seconds_since(Deadline start);

/// Opens data, outputs and the executor, all ranks together; cheap and likely failures first.
Status open_session(Session& session, device::Device& device, device::KernelLoader& loader);

/// Copies the next micro batch to its ports. Gives the number of samples that are not padding.
Result<std::int64_t> feed_micro_batch(DataFeed& feed);

/// Initialises the tensors, or fills them from the newest checkpoint: all ranks the same one.
Status start_or_resume(Session& session);
/// Rank 0 writes; all ranks learn how it went.
Status save_checkpoint(Session& session);

/// Means of the evaluation metrics over all samples of all ranks.
Result<EvalReport> evaluate(Session& session);

}  // namespace dtj::run
