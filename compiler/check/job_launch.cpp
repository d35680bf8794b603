#include <fmt/format.h>

#include "compiler/check/job_draft.hpp"

// The sections launch, mesh, precision and parallel.

namespace dtj::check {
namespace {

LaunchMethod to_method(const std::string& word) {
  if (word == "slurm") return LaunchMethod::slurm;
  if (word == "mpi") return LaunchMethod::mpi;
  if (word == "torchrun") return LaunchMethod::torchrun;
  return LaunchMethod::local;
}

DeviceKind to_device(const std::string& word) {
  if (word == "cuda") return DeviceKind::cuda;
  if (word == "auto") return DeviceKind::automatic;
  return DeviceKind::cpu;
}

void report_missing_ranks(const SectionValues& section, diag::Sink& sink) {
  sink.report({diag::Kind::missing_key, section.range, "section `launch` needs the key `ranks_per_node`"})
      .help("for example `ranks_per_node = 2;`, or `gpus_per_node = 8; procs_per_gpu = 1;`");
}

/// Ranks per node, from the one key or from the product of the other two; both must agree when both stand there.
void read_ranks(const SectionValues& section, LaunchDraft& draft, diag::Sink& sink) {
  const auto ranks = read_integer(section, "ranks_per_node");
  const auto gpus = read_integer(section, "gpus_per_node");
  const auto procs = read_integer(section, "procs_per_gpu");
  const bool has_product = gpus.is_stated();
  draft.ranks_per_node = ranks;
  draft.world_range = section.join(draft.nodes.range, ranks.range);
  if (!ranks.is_stated() && !has_product) {
    draft.ranks_per_node.presence = Presence::unknown;
    const bool is_explained = !section.is_missing("ranks_per_node") || !section.is_missing("gpus_per_node");
    if (section.is_written && procs.is_known() && !is_explained) report_missing_ranks(section, sink);
    return;
  }
  if (!has_product) {
    draft.world_arithmetic = fmt::format("{} * {}", draft.nodes.value, ranks.value);
    return;
  }
  const source::Range product_range = section.join(gpus.range, procs.range);
  const bool is_product_known = gpus.is_known() && procs.is_known();
  const std::int64_t product = gpus.value * procs.value;
  if (ranks.is_stated()) {
    draft.world_arithmetic = fmt::format("{} * {}", draft.nodes.value, ranks.value);
    if (ranks.presence != Presence::known || !is_product_known || product == ranks.value) return;
    sink.report({diag::Kind::world_size_mismatch, ranks.range, "`ranks_per_node` differs from `gpus_per_node * procs_per_gpu`"})
        .under(fmt::format("{} ranks per node", ranks.value))
        .label(product_range, fmt::format("{} * {} = {} ranks per node", gpus.value, procs.value, product))
        .help(fmt::format("write `ranks_per_node = {}`, or leave it out", product));
    draft.ranks_per_node.presence = Presence::unknown;
    return;
  }
  draft.ranks_per_node = {product, product_range, is_product_known ? Presence::known : Presence::unknown};
  draft.world_range = section.join(draft.nodes.range, product_range);
  draft.world_arithmetic = fmt::format("{} * {} * {}", draft.nodes.value, gpus.value, procs.value);
}

void require_f32(const SectionValues& section, std::string_view role, std::string_view why, diag::Sink& sink) {
  const auto dtype = read_text(section, role);
  if (dtype.presence != Presence::known || dtype.value == "f32") return;
  sink.report({diag::Kind::unsupported_precision, section.find(role)->value.range, fmt::format("`{}` must be `f32`, found `{}`", role, dtype.value)})
      .note(std::string(why))
      .help(fmt::format("write `{} = f32`", role));
}

void check_compute(const SectionValues& section, const Stated<DeviceKind>& device, diag::Sink& sink) {
  const auto dtype = read_text(section, "compute");
  if (const auto scaler = read_text(section, "loss_scaler"); scaler.presence == Presence::known && scaler.value != "none" && dtype.is_known() && dtype.value != "f16")
    sink.report({diag::Kind::needless_scaler, scaler.range, fmt::format("a loss scaler is for `f16` alone, and the job computes in `{}`", dtype.value)})
        .help("leave `loss_scaler` out");
  if (dtype.presence != Presence::known || dtype.value != "f16") return;
  const source::Range range = section.find("compute")->value.range;
  if (device.is_known() && device.value == DeviceKind::cpu) {
    auto& report = sink.report({diag::Kind::precision_device_mismatch, range, "`device = cpu` computes in `f32` or `bf16`, found `f16`"});
    if (device.is_stated()) report.label(device.range, "the device is chosen here");
    report.help("write `compute = bf16`").fix(range, "bf16", diag::Applicability::maybe_incorrect);
    return;
  }
  const auto scaler = read_text(section, "loss_scaler");
  if (!scaler.is_known() || scaler.value != "none") return;
  sink.report({diag::Kind::f16_needs_scaler, range, "`compute = f16` needs a loss scaler"})
      .note("gradients below 6e-8 vanish in f16; bf16 has the range of f32 and needs no scaler")
      .help("write `compute = bf16`, or add `loss_scaler = dynamic`")
      .fix(range, "bf16", diag::Applicability::maybe_incorrect);
}

void require_one(const Stated<std::int64_t>& axis, std::string_view name, std::string_view what, diag::Sink& sink) {
  if (axis.presence != Presence::known || axis.value == 1) return;
  sink.report({diag::Kind::unsupported_parallelism, axis.range, fmt::format("`{}` must be 1, found {}: {} parallelism is not part of this edition", name, axis.value, what)})
      .help(fmt::format("write `{} = 1`, and give the ranks to `dp`", name));
}

}  // namespace

LaunchDraft draft_launch(const SectionValues& section, diag::Sink& sink) {
  LaunchDraft draft;
  draft.spec.method = to_method(read_text(section, "method").value);
  draft.nodes = read_integer(section, "nodes");
  read_ranks(section, draft, sink);
  for (const source::Range& range : {draft.nodes.range, draft.ranks_per_node.range})
    if (!range.is_none && source::is_outside(range, draft.world_range)) draft.world_elsewhere = range;
  const bool is_known = draft.nodes.is_known() && draft.ranks_per_node.is_known();
  draft.world_size = {draft.nodes.value * draft.ranks_per_node.value, draft.world_range, is_known ? Presence::known : Presence::unknown};
  draft.spec.nodes = draft.nodes.value;
  draft.spec.ranks_per_node = draft.ranks_per_node.value;
  draft.spec.threads_per_rank = read_integer(section, "threads_per_rank").value;

  const auto device = read_text(section, "device");
  draft.device = {to_device(device.value), device.range, device.presence};
  draft.spec.device = draft.device.value;
  const auto bind_cores = read_boolean(section, "bind_cores");
  draft.spec.bind_cores = bind_cores.value;
  draft.walltime = read_quantity(section, "walltime");
  if (draft.walltime.presence == Presence::known) draft.spec.walltime_seconds = draft.walltime.value.amount;
  draft.spec.collective_timeout_seconds = read_quantity(section, "collective_timeout").value.amount;
  return draft;
}

MeshDraft draft_mesh(const SectionValues& section, diag::Sink& sink) {
  MeshDraft draft;
  draft.dp = read_integer(section, "dp");
  draft.tp = read_integer(section, "tp");
  draft.pp = read_integer(section, "pp");
  for (const auto* axis : {&draft.dp, &draft.tp, &draft.pp}) draft.range = section.join(draft.range, axis->range);
  require_one(draft.tp, "tp", "tensor", sink);
  require_one(draft.pp, "pp", "pipeline", sink);
  return draft;
}

PrecisionDraft draft_precision(const SectionValues& section, const Stated<DeviceKind>& device, diag::Sink& sink) {
  PrecisionDraft draft;
  draft.compute = read_text(section, "compute");
  if (draft.compute.value == "bf16") draft.spec.compute = DType::bf16;
  check_compute(section, device, sink);
  const bool is_cpu = device.is_known() && device.value == DeviceKind::cpu;
  if (is_cpu) require_f32(section, "params", "the parameters are the f32 master weights; `compute = bf16` rounds them where they are used", sink);
  require_f32(section, "reduce", "gradients are summed over the ranks in f32", sink);
  require_f32(section, "optimizer", "optimizer state is kept in f32", sink);
  require_f32(section, "master", "master weights are kept in f32", sink);
  return draft;
}

}  // namespace dtj::check
