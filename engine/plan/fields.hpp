#pragma once

#include <concepts>
#include <type_traits>

#include "engine/plan/plan.hpp"

// Every field of a plan, listed once. The writer, the reader and the hash walk the same list, so a field cannot be
// saved and not loaded. `v.field(x)` is part of the plan hash, `v.unhashed(x)` is saved but decides no number.

namespace dtj::plan {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

/// The last value of an enum that a plan file may hold.
template <class E>
inline constexpr E last_of = E::unspecified;
template <>
inline constexpr DType last_of<DType> = DType::boolean;
template <>
inline constexpr LaunchMethod last_of<LaunchMethod> = LaunchMethod::torchrun;
template <>
inline constexpr DeviceKind last_of<DeviceKind> = DeviceKind::automatic;
template <>
inline constexpr SourceKind last_of<SourceKind> = SourceKind::token_shards;
template <>
inline constexpr SamplerKind last_of<SamplerKind> = SamplerKind::sequential;
template <>
inline constexpr LastBatch last_of<LastBatch> = LastBatch::pad;
template <>
inline constexpr Comparison last_of<Comparison> = Comparison::greater_equal;
template <>
inline constexpr MissingWeights last_of<MissingWeights> = MissingWeights::initialise;
template <>
inline constexpr InitKind last_of<InitKind> = InitKind::normal;
template <>
inline constexpr ProgressUnit last_of<ProgressUnit> = ProgressUnit::time;
template <>
inline constexpr Arena last_of<Arena> = Arena::constant;
template <>
inline constexpr BufferClass last_of<BufferClass> = BufferClass::constant;
template <>
inline constexpr BuiltinOp last_of<BuiltinOp> = BuiltinOp::argmax_last;
template <>
inline constexpr CollectiveOp last_of<CollectiveOp> = CollectiveOp::all_reduce_sum;

template <class V>
void fields(V& v, Is<Progress> auto& x) {
  v.field(x.amount), v.field(x.unit);
}
template <class V>
void fields(V& v, Is<LaunchSpec> auto& x) {
  // The number of ranks enters the hash through the mesh; how they are spread and started changes no number.
  v.unhashed(x.method), v.unhashed(x.nodes), v.unhashed(x.ranks_per_node), v.unhashed(x.threads_per_rank);
  v.field(x.device);
  v.unhashed(x.bind_cores), v.unhashed(x.walltime_seconds), v.unhashed(x.collective_timeout_seconds);
}
template <class V>
void fields(V& v, Is<MeshSpec> auto& x) {
  v.field(x.dp), v.field(x.tp), v.field(x.pp);
}
template <class V>
void fields(V& v, Is<PrecisionSpec> auto& x) {
  v.field(x.compute), v.field(x.params), v.field(x.reduce), v.field(x.optimizer);
}
template <class V>
void fields(V& v, Is<SourceSpec> auto& x) {
  v.field(x.kind), v.unhashed(x.path), v.field(x.split), v.field(x.pattern), v.field(x.train_fraction);
  v.field(x.vocab), v.field(x.num_classes), v.field(x.height), v.field(x.width);
}
template <class V>
void fields(V& v, Is<PixelTransform> auto& x) {
  v.field(x.scale), v.field(x.mean), v.field(x.std), v.field(x.crop_pad), v.field(x.flip), v.field(x.seed);
}
template <class V>
void fields(V& v, Is<SamplerSpec> auto& x) {
  v.field(x.kind), v.field(x.seed), v.field(x.last_batch);
}
template <class V>
void fields(V& v, Is<FieldSpec> auto& x) {
  v.field(x.name), v.field(x.dtype), v.field(x.sample_shape), v.field(x.is_target);
}
template <class V>
void fields(V& v, Is<DataSpec> auto& x) {
  v.field(x.name), v.field(x.source), v.field(x.transform), v.field(x.sampler), v.field(x.seq);
  v.field(x.global_batch), v.field(x.micro_batch), v.field(x.gradient_accumulation), v.unhashed(x.prefetch);
  v.field(x.fields);
}
template <class V>
void fields(V& v, Is<TrainSpec> auto& x) {
  v.field(x.stop), v.field(x.grad_clip_norm), v.field(x.grad_clip_value), v.unhashed(x.log_every);
}
template <class V>
void fields(V& v, Is<GoalSpec> auto& x) {
  v.field(x.metric), v.field(x.comparison), v.field(x.value);
}
template <class V>
void fields(V& v, Is<EvalSpec> auto& x) {
  v.field(x.data), v.unhashed(x.every), v.field(x.batches), v.field(x.metrics), v.unhashed(x.goal);
}
template <class V>
void fields(V& v, Is<CheckpointSpec> auto& x) {
  v.field(x.dir), v.field(x.every), v.field(x.keep), v.field(x.on_signal);
}
template <class V>
void fields(V& v, Is<InitSpec> auto& x) {
  v.field(x.kind), v.field(x.a), v.field(x.b);
}
template <class V>
void fields(V& v, Is<WeightSource> auto& x) {
  v.field(x.param), v.field(x.tensor), v.field(x.transpose);
}
template <class V>
void fields(V& v, Is<WeightsSpec> auto& x) {
  v.field(x.path), v.field(x.sources), v.field(x.missing), v.field(x.unexpected);
}
template <class V>
void fields(V& v, Is<JobSpec> auto& x) {
  v.field(x.name), v.field(x.seed), v.field(x.launch), v.field(x.mesh), v.field(x.precision), v.field(x.train_data);
  v.field(x.eval_data), v.field(x.train), v.field(x.eval), v.unhashed(x.checkpoint);
  // Rank 0 reads the weights for all, and a resumed run does not read them.
  v.unhashed(x.weights), v.field(x.metrics);
}

template <class V>
void fields(V& v, Is<Buffer> auto& x) {
  v.field(x.name), v.field(x.dtype), v.field(x.shape), v.field(x.cls), v.field(x.arena), v.field(x.offset);
  v.field(x.size);
}
template <class V>
void fields(V& v, Is<TensorSpec> auto& x) {
  v.field(x.buffer), v.field(x.init);
}
template <class V>
void fields(V& v, Is<Kernel> auto& x) {
  v.field(x.symbol), v.unhashed(x.object);
}
template <class V>
void fields(V& v, Is<Collective> auto& x) {
  v.field(x.op), v.field(x.dtype), v.field(x.offset), v.field(x.count), v.field(x.axis), v.unhashed(x.name);
}
template <class V>
void fields(V& v, Is<KernelStep> auto& x) {
  v.field(x.kernel), v.field(x.args), v.field(x.extent), v.field(x.work_items), v.unhashed(x.grain);
}
template <class V>
void fields(V& v, Is<GemmStep> auto& x) {
  v.field(x.a), v.field(x.b), v.field(x.c), v.field(x.trans_a), v.field(x.trans_b), v.field(x.accumulate);
  v.field(x.batch), v.field(x.m), v.field(x.n), v.field(x.k), v.field(x.lda), v.field(x.ldb), v.field(x.ldc);
  v.field(x.stride_a), v.field(x.stride_b), v.field(x.stride_c);
}
template <class V>
void fields(V& v, Is<BuiltinStep> auto& x) {
  v.field(x.op), v.field(x.args);
}
template <class V>
void fields(V& v, Is<CopyStep> auto& x) {
  v.field(x.from), v.field(x.to);
}
template <class V>
void fields(V& v, Is<FillZeroStep> auto& x) {
  v.field(x.to);
}
template <class V>
void fields(V& v, Is<CollectiveStartStep> auto& x) {
  v.field(x.collective);
}
template <class V>
void fields(V& v, Is<CollectiveWaitStep> auto& x) {
  v.field(x.collective);
}
template <class V>
void fields(V& v, Is<SourceLocation> auto& x) {
  v.field(x.file), v.field(x.line), v.field(x.column);
}
template <class V>
void fields(V& v, Is<Step> auto& x) {
  v.field(x.what), v.unhashed(x.source), v.unhashed(x.label);
}
template <class V>
void fields(V& v, Is<Program> auto& x) {
  v.field(x.name), v.field(x.steps), v.field(x.transient_bytes);
}
template <class V>
void fields(V& v, Is<Ports> auto& x) {
  v.field(x.train_batch), v.field(x.eval_batch), v.field(x.train_metrics), v.field(x.eval_metrics);
  v.field(x.step), v.field(x.learning_rate), v.field(x.gradient_norm), v.field(x.sample);
}
template <class V>
void fields(V& v, Is<ExecutionPlan> auto& x) {
  v.field(x.format_version), v.unhashed(x.target), v.field(x.job), v.field(x.buffers);
  for (auto& bytes : x.arena_bytes) v.field(bytes);
  v.field(x.tensors), v.field(x.constants), v.field(x.constant_buffers);
  v.unhashed(x.objects), v.field(x.kernels), v.field(x.collectives);
  v.field(x.micro_only), v.field(x.micro_first), v.field(x.micro_middle), v.field(x.micro_last);
  v.field(x.update), v.field(x.evaluate), v.field(x.ports);
  v.unhashed(x.hash);
}

}  // namespace dtj::plan
