#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/check/name_patterns.hpp"
#include "compiler/check/sections.hpp"
#include "engine/base/job_spec.hpp"

// A job as its sections state it, before the contract between them is checked. Each part knows where it was written.

namespace dtj::check {

struct LaunchDraft {
  LaunchSpec spec;
  Stated<std::int64_t> nodes, ranks_per_node, world_size;
  source::Range world_range;     ///< the settings that make the world size; none without a launch section
  source::Range world_elsewhere;  ///< those of them that stand in another job; mostly none
  std::string world_arithmetic;  ///< "4 * 8 * 1"
  Stated<DeviceKind> device;
  Stated<Quantity> walltime;
};

struct MeshDraft {
  Stated<std::int64_t> dp, tp, pp;
  source::Range range;  ///< all its settings; none when there are none
};

struct PrecisionDraft {
  PrecisionSpec spec;
  Stated<std::string> compute;
};

/// Batches are counted in `sample` or `tok` here; the contract turns them into samples.
struct DataDraft {
  DataSpec spec;
  source::Range label_range;
  source::Range source_range;
  std::optional<source::Range> random_transform;  ///< one that changes images at random
  source::Range window_range;  ///< of a shuffle that covers a part of the set at a time; mostly none
  bool has_source = false;  ///< false: mistaken, and reported
  Stated<std::int64_t> seq;
  Stated<Quantity> global_batch, micro_batch;
  Stated<std::int64_t> gradient_accumulation;
  Stated<SamplerSpec> sampler;
  bool drop_last = true;
};

struct TrainDraft {
  Stated<Progress> stop;
  Stated<Progress> log_every;
  std::optional<double> grad_clip_norm, grad_clip_value;
  std::optional<std::vector<StatedPattern>> freeze = std::vector<StatedPattern>();  ///< none: mistaken or unbound
};

/// "from -> to": a name in the file and a name in the model.
struct WeightRuleDraft {
  NamePattern from, to;
  bool transpose = false;
  source::Range range;
};

struct WeightsDraft {
  std::string path;
  std::vector<WeightRuleDraft> rules;
  MissingWeights missing = MissingWeights::error;
  std::vector<std::string> unexpected;
  bool is_known = false;  ///< false: mistaken or unbound
};

struct GoalDraft {
  GoalSpec spec;
  source::Range metric_range;
};

struct EvalDraft {
  source::Range range;
  Stated<std::string> on;
  Stated<Progress> every;
  std::optional<std::int64_t> batches;
  Stated<std::vector<std::string>> metrics;
  std::optional<GoalDraft> goal;
};

struct CheckpointDraft {
  Stated<std::string> dir;
  Stated<std::vector<Progress>> every;
  std::string every_text;  ///< "min_of(500step, 30min)"
  std::int64_t keep = 2;
  Stated<bool> on_signal;
  Stated<std::vector<std::string>> save;
  Stated<std::string> resume;
};

struct JobDraft {
  std::string name;
  source::Range name_range;
  Stated<std::int64_t> seed;
  LaunchDraft launch;
  MeshDraft mesh;
  PrecisionDraft precision;
  std::vector<DataDraft> data;
  TrainDraft train;
  std::optional<EvalDraft> eval;
  std::optional<CheckpointDraft> checkpoint;
  std::optional<WeightsDraft> weights;
};

/// Reads every section. Mistakes within one section are reported here.
JobDraft draft_job(const ast::JobDecl& job, const JobSections& sections, const ReadContext& context);

// Its parts.
LaunchDraft draft_launch(const SectionValues& section, diag::Sink& sink);
MeshDraft draft_mesh(const SectionValues& section, diag::Sink& sink);
PrecisionDraft draft_precision(const SectionValues& section, const Stated<DeviceKind>& device, diag::Sink& sink);
DataDraft draft_data(const SectionValues& section, const ReadContext& context);
TrainDraft draft_train(const SectionValues& section, diag::Sink& sink);
EvalDraft draft_eval(const SectionValues& section, const ReadContext& context);
WeightsDraft draft_weights(const SectionValues& section, diag::Sink& sink);
CheckpointDraft draft_checkpoint(const SectionValues& section, diag::Sink& sink);

/// "500step", "30min"
std::string spell(const Progress& progress);

}  // namespace dtj::check
