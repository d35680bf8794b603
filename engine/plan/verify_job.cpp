#include <cmath>

#include <fmt/format.h>

#include "engine/base/name_pattern.hpp"
#include "engine/plan/verify.hpp"

namespace dtj::plan {
namespace {

// Large enough for any real job, small enough that products of a few of them stay inside 64 bits.
constexpr std::int64_t max_count = std::int64_t{1} << 40;
constexpr std::int64_t max_world_size = 1 << 20;
constexpr std::size_t max_rank_of_tensor = 16;

tl::unexpected<Error> bad(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

Status check_count(std::int64_t value, std::int64_t low, std::int64_t high, std::string_view name) {
  if (value >= low && value <= high) return {};
  return bad(fmt::format("job: {} is {}, expected {} to {}", name, value, low, high));
}

Status check_finite(double value, std::string_view name) {
  if (std::isfinite(value)) return {};
  return bad(fmt::format("job: {} is not a finite number", name));
}

Status check_progress(const Progress& progress, std::string_view name) {
  if (std::isfinite(progress.amount) && progress.amount > 0 && progress.amount < 1e18) return {};
  return bad(fmt::format("job: {} is {}, expected a positive amount", name, progress.amount));
}

Status check_source(const DataSpec& data) {
  DTJ_TRY(check_count(data.source.vocab, 0, max_count, "vocab"));
  DTJ_TRY(check_count(data.source.num_classes, 0, max_count, "num_classes"));
  DTJ_TRY(check_count(data.source.height, 1, 1 << 20, "height"));
  DTJ_TRY(check_count(data.source.width, 1, 1 << 20, "width"));
  if (!(data.source.train_fraction >= 0 && data.source.train_fraction <= 1)) {
    return bad("job: train_fraction is outside [0, 1]");
  }
  DTJ_TRY(check_finite(data.transform.scale, "transform.scale"));
  DTJ_TRY(check_finite(data.transform.mean, "transform.mean"));
  DTJ_TRY(check_finite(data.transform.std, "transform.std"));
  DTJ_TRY(check_count(data.transform.crop_pad, 0, 1 << 16, "transform.crop_pad"));
  if (!(data.transform.flip >= 0 && data.transform.flip <= 1)) return bad("job: transform.flip is outside [0, 1]");
  if (data.transform.std == 0) return bad("job: transform.std is 0");
  return {};
}

Status check_data(const DataSpec& data, std::int64_t dp) {
  DTJ_TRY(check_source(data));
  DTJ_TRY(check_count(data.seq, 0, max_count, "seq"));
  DTJ_TRY(check_count(data.micro_batch, 1, 1 << 24, "micro_batch"));
  DTJ_TRY(check_count(data.gradient_accumulation, 1, 1 << 24, "gradient_accumulation"));
  DTJ_TRY(check_count(data.prefetch, 0, 1 << 16, "prefetch"));
  for (const FieldSpec& field : data.fields) {
    if (field.sample_shape.size() > max_rank_of_tensor)
      return bad(fmt::format("job: field `{}` has too many dims", field.name));
    for (const std::int64_t extent : field.sample_shape) DTJ_TRY(check_count(extent, 0, max_count, "a field's extent"));
  }
  // Bounds above keep the product of two inside 64 bits; the division tells about the third.
  const std::int64_t per_rank = data.micro_batch * data.gradient_accumulation;
  if (data.global_batch < 1 || data.global_batch / dp != per_rank || data.global_batch % dp != 0) {
    return bad(fmt::format("job: data `{}`: global_batch {} is not micro_batch {} x gradient_accumulation {} x dp {}",
                           data.name, data.global_batch, data.micro_batch, data.gradient_accumulation, dp));
  }
  return {};
}

Status check_launch(const LaunchSpec& launch, const MeshSpec& mesh) {
  DTJ_TRY(check_count(launch.nodes, 1, max_world_size, "nodes"));
  DTJ_TRY(check_count(launch.ranks_per_node, 1, max_world_size, "ranks_per_node"));
  DTJ_TRY(check_count(launch.world_size(), 1, max_world_size, "world_size"));
  DTJ_TRY(check_count(launch.threads_per_rank, 1, 1 << 16, "threads_per_rank"));
  DTJ_TRY(check_count(mesh.dp, 1, max_world_size, "mesh.dp"));
  DTJ_TRY(check_count(mesh.tp, 1, max_world_size, "mesh.tp"));
  DTJ_TRY(check_count(mesh.pp, 1, max_world_size, "mesh.pp"));
  if (mesh.dp * mesh.tp * mesh.pp != launch.world_size()) {
    return bad(fmt::format("job: world_size {} is not the product of the mesh {} x {} x {}", launch.world_size(),
                           mesh.dp, mesh.tp, mesh.pp));
  }
  if (launch.walltime_seconds && !(*launch.walltime_seconds > 0 && *launch.walltime_seconds < 1e9)) {
    return bad("job: walltime is not a positive time");
  }
  if (!(launch.collective_timeout_seconds > 0 && launch.collective_timeout_seconds < 1e9)) {
    return bad("job: collective_timeout is not a positive time");
  }
  return {};
}

}  // namespace

Status verify_job(const JobSpec& job) {
  DTJ_TRY(check_launch(job.launch, job.mesh));
  DTJ_TRY(check_data(job.train_data, job.mesh.dp));
  DTJ_TRY(check_progress(job.train.stop, "train.stop"));
  DTJ_TRY(check_progress(job.train.log_every, "train.log_every"));
  if (job.train.grad_clip_norm && !(*job.train.grad_clip_norm > 0)) return bad("job: grad_clip_norm is not positive");
  if (job.train.grad_clip_value && !(*job.train.grad_clip_value > 0))
    return bad("job: grad_clip_value is not positive");
  if (job.weights) {
    for (const std::string& pattern : job.weights->unexpected)
      if (!NamePattern::parse(pattern)) return bad("job: a name of unexpected weights is no pattern");
  }
  if (job.eval_data) {
    // An evaluation batch is what each rank takes at a time; only its own sizes count.
    DTJ_TRY(check_source(*job.eval_data));
    DTJ_TRY(check_count(job.eval_data->micro_batch, 1, 1 << 24, "eval micro_batch"));
    DTJ_TRY(check_count(job.eval_data->seq, 0, max_count, "eval seq"));
    DTJ_TRY(check_count(job.eval_data->prefetch, 0, 1 << 16, "eval prefetch"));
  }
  if (job.eval) {
    DTJ_TRY(check_progress(job.eval->every, "eval.every"));
    if (job.eval->batches) DTJ_TRY(check_count(*job.eval->batches, 1, max_count, "eval.batches"));
    if (job.eval->goal) DTJ_TRY(check_finite(job.eval->goal->value, "eval.goal"));
  }
  if (job.checkpoint) {
    DTJ_TRY(check_count(job.checkpoint->keep, 1, 1 << 20, "checkpoint.keep"));
    for (const Progress& every : job.checkpoint->every) DTJ_TRY(check_progress(every, "checkpoint.every"));
  }
  return {};
}

}  // namespace dtj::plan
