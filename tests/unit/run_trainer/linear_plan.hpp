#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/kernel_loader.hpp"
#include "engine/plan/plan.hpp"
#include "engine/run/trainer.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/idx_files.hpp"
#include "tests/support/safetensors_file.hpp"
#include "tests/support/temp_dir.hpp"

// Linear regression of the label on 4 x 4 pixels by SGD with momentum, as a plan written by hand.

namespace dtj::test {

struct PlanOptions {
  std::string data;            ///< folder with 4 x 4 IDX files
  std::string checkpoint_dir;  ///< "" = none
  std::int64_t world_size = 1;
  std::int64_t accumulation = 1;
  std::int64_t global_batch = 16;
  Progress stop{40, ProgressUnit::step};
  std::vector<Progress> checkpoint_every{{1000, ProgressUnit::step}};
  std::optional<Progress> eval_every;  ///< none = no evaluation
  bool explodes = false;               ///< the learning rate is absurd
};

plan::ExecutionPlan make_linear_plan(const PlanOptions& options);

/// Gives the native functions that the plan names.
class NativeLoader final : public device::KernelLoader {
 public:
  Result<std::vector<device::KernelFn>> load(const plan::ExecutionPlan& plan) override;
};

/// What one rank did and saw.
struct RankRun {
  std::optional<run::RunSummary> summary;
  std::optional<Error> error;
  std::vector<double> losses;  ///< per step
  std::vector<run::StepReport> logs;
  std::vector<run::EvalReport> evals;
  std::vector<run::CheckpointReport> checkpoints;
  std::vector<std::string> messages;
};

struct RunOptions {
  run::TrainerOptions trainer;
  /// After each step, on every rank: (rank, steps done).
  std::function<void(std::int64_t, std::int64_t)> on_step;
};

/// Runs all ranks of the plan as threads; `plans` has one plan per rank, or one for all.
std::vector<RankRun> run_ranks(const std::vector<plan::ExecutionPlan>& plans, const RunOptions& options,
                               std::int64_t world_size);
inline std::vector<RankRun> run_ranks(const PlanOptions& plan, const RunOptions& options = {}) {
  return run_ranks({make_linear_plan(plan)}, options, plan.world_size);
}

/// The data and output folders of a test.
struct Workplace {
  TempDir dir;

  Workplace() { write(dir, 200); }
  static void write(const TempDir& dir, std::uint32_t num_train) {
    write_idx(dir, "train", {.num_samples = num_train, .height = 4, .width = 4, .num_classes = 4, .bad_label_at = -1});
    write_idx(dir, "t10k", {.num_samples = 53, .height = 4, .width = 4, .num_classes = 4, .bad_label_at = -1});
  }
  PlanOptions options(std::int64_t world_size = 1, const std::string& out = "") const {
    PlanOptions options;
    options.data = dir.path().string();
    options.world_size = world_size;
    if (!out.empty()) options.checkpoint_dir = dir.file(out);
    return options;
  }
  /// Bytes of all tensors of a checkpoint.
  std::map<std::string, std::string> tensors(const std::string& out, std::int64_t step) const;
  std::vector<std::string> checkpoints(const std::string& out) const;
};

}  // namespace dtj::test
