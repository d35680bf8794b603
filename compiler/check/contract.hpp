#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/check/job_draft.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "engine/base/job_spec.hpp"

// What the sections of a job promise each other. Every check is silent about values that are unknown.

namespace dtj::check {

/// world_size = nodes * ranks_per_node = dp * tp * pp. An absent `dp` is what the world size leaves over.
Stated<MeshSpec> check_mesh(const LaunchDraft& launch, const MeshDraft& mesh, diag::Sink& sink);

/// global_batch = micro_batch * gradient_accumulation * dp, in samples. One or both of the parts may be absent:
/// the accumulation is then 1, or what is left over. Fills the batch fields of `draft.spec`; false: they are a stand-in
/// that lets the model be checked, but not run.
bool check_batch(DataDraft& draft, const Stated<MeshSpec>& mesh, bool is_for_training, diag::Sink& sink);

/// Training takes whole batches; only an evaluation pads its last one.
void check_sampler(const DataDraft& train, diag::Sink& sink);

/// Intervals in tokens need samples that are made of tokens.
void check_token_intervals(const JobDraft& draft, const DataDraft& train, diag::Sink& sink);

/// The data section that `eval.on` names, if it does.
DataDraft* find_eval_data(JobDraft& draft, diag::Sink& sink);

/// An evaluation, and a checkpoint, happens before the end; a checkpoint saves what an exact resume needs.
void check_intervals(const JobDraft& draft, const DataDraft* train, diag::Sink& sink);

/// State that only some jobs have.
struct StateKinds {
  bool has_buffers = false, has_scaler = false;
};
void check_save(const CheckpointDraft& checkpoint, const StateKinds& kinds, diag::Sink& sink);

/// Which parameters `freeze` names. Every pattern must match one, and one parameter must be left.
std::vector<bool> find_frozen(const TrainDraft& train, const std::vector<ParamInfo>& params, diag::Sink& sink);

/// Which tensor of the file each parameter starts as. Every rule of the job, but not of the library, must give one.
WeightsSpec resolve_weights(const WeightsDraft& draft, const std::vector<ParamInfo>& params,
                            const std::function<bool(source::Range)>& is_library, diag::Sink& sink);

/// The metrics and the goal of the evaluation against those of the objective.
void check_metrics(const EvalDraft& eval, const std::vector<std::string>& metrics, diag::Sink& sink);

/// `amount` of steps, if it can be known without the data.
std::optional<double> steps_of(const Progress& progress, const DataSpec& data);

}  // namespace dtj::check
