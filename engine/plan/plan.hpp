#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/dtype.hpp"
#include "engine/base/ids.hpp"
#include "engine/base/job_spec.hpp"
#include "engine/base/shape.hpp"
#include "engine/base/units.hpp"

// ExecutionPlan: everything one rank does, as plain data. All ranks of a data-parallel job hold the same plan.
// Buffers are arena + offset; a program is a straight line of steps; each step says which line of the job it came from.

namespace dtj::plan {

using BufferId = Id<struct BufferTag>;
using KernelId = Id<struct KernelTag>;
using CollectiveId = Id<struct CollectiveTag>;

/// The separately allocated memory ranges of a rank.
enum class Arena : std::uint8_t {
  persistent,  ///< parameters, module buffers, optimizer state: what a checkpoint holds
  gradient,    ///< gradient buckets and metrics; allocated by the communicator (shared between ranks of a host)
  batch,       ///< the current micro batch
  transient,   ///< activations and scratch of one program, laid out by liveness
  constant,    ///< written once at load: `constants`
};
inline constexpr int num_arenas = 5;

/// What a buffer is for; the memory table is summed by it.
enum class BufferClass : std::uint8_t { param, module_buffer, optimizer, gradient, metric, batch, activation, scratch, constant };

struct Buffer {
  std::string name;  ///< "h.0.attn.qkv.weight", "adamw.m/h.0...", "batch.image", "%12"
  DType dtype = DType::f32;
  Shape shape;
  BufferClass cls = BufferClass::activation;
  Arena arena = Arena::transient;
  std::int64_t offset = 0;  ///< bytes from the start of the arena, 64-byte aligned
  std::int64_t size = 0;    ///< bytes
};

/// A persistent tensor: how it is initialised and whether a checkpoint must hold it.
struct TensorSpec {
  BufferId buffer;
  InitSpec init;
};

/// A compiled kernel: `object` is a relocatable object file for `ExecutionPlan::target`, with `symbol` of type
/// void(void* const* buffers, int64_t extent, int64_t begin, int64_t end).
struct Kernel {
  std::string symbol;
  std::uint32_t object = 0;  ///< index into ExecutionPlan::objects; several kernels share one
};

/// Calls a kernel for work items [0, work_items), split over the worker threads in ranges of whole `grain`s.
struct KernelStep {
  KernelId kernel;
  std::vector<BufferId> args;  ///< inputs, then outputs, in the kernel's order
  std::int64_t extent = 0;     ///< the run-time size of a size-generic kernel; unused otherwise
  std::int64_t work_items = 0;
  std::int64_t grain = 1;
};

/// c[b, m, n] (+)= op(a)[b, m, k] * op(b)[b, k, n], row-major with leading dimensions; f32 accumulation.
/// dtypes of a, b: both f32 or both bf16; c: f32 or bf16. A batch stride of 0 repeats the operand.
struct GemmStep {
  BufferId a, b, c;
  bool trans_a = false;
  bool trans_b = false;
  bool accumulate = false;
  std::int64_t batch = 1;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< elements between batch entries
};

/// Kernels that the engine itself holds.
enum class BuiltinOp : std::uint8_t {
  gather_rows,       ///< args table[V, C], index i32[N] -> out[N, C]; an index outside [0, V) is an error at run time
  scatter_add_rows,  ///< args index i32[N], grad[N, C] -> out[V, C]: out = 0, then out[index[i]] += grad[i] in order of i
  argmax_last,       ///< args x[R, C] -> out i32[R]; the first of equal values
};

struct BuiltinStep {
  BuiltinOp op = BuiltinOp::gather_rows;
  std::vector<BufferId> args;  ///< inputs, then the output
};

struct CopyStep {
  BufferId from, to;
};

struct FillZeroStep {
  BufferId to;
};

enum class CollectiveOp : std::uint8_t { all_reduce_sum };

/// One contiguous range of the gradient arena, reduced over the data-parallel ranks.
struct Collective {
  CollectiveOp op = CollectiveOp::all_reduce_sum;
  DType dtype = DType::f32;
  std::int64_t offset = 0;  ///< bytes into Arena::gradient
  std::int64_t count = 0;   ///< elements
  std::string axis = "dp";
  std::string name;  ///< "bucket 0 (h.3.mlp.proj.weight, ...)"
};

struct CollectiveStartStep {
  CollectiveId collective;
};
struct CollectiveWaitStep {
  CollectiveId collective;
};

struct SourceLocation {
  std::string file;  ///< empty: made by the compiler
  std::int32_t line = 0;
  std::int32_t column = 0;
};

struct Step {
  std::variant<KernelStep, GemmStep, BuiltinStep, CopyStep, FillZeroStep, CollectiveStartStep, CollectiveWaitStep> what;
  SourceLocation source;
  std::string label;  ///< "fused(add,gelu)", for traces and messages
};

struct Program {
  std::string name;
  std::vector<Step> steps;
  std::int64_t transient_bytes = 0;  ///< peak of the transient arena in this program
};

/// The values of a scalar in Arena::batch or metric that the trainer reads or writes by role.
struct Ports {
  std::vector<BufferId> train_batch;           ///< one per DataSpec::fields of train_data
  std::vector<BufferId> eval_batch;            ///< likewise for eval_data
  std::vector<BufferId> train_metrics;         ///< f32[], per JobSpec::metrics: means over the global batch; with a
                                               ///< weight metric, sums of weight times value over the micro batches
  std::vector<BufferId> eval_metrics;          ///< f32[], means over this rank's micro batch without its padded samples
  std::optional<BufferId> step;                ///< f64[], written by the trainer before `update`: 0 for the first step
  std::optional<BufferId> learning_rate;       ///< f32[], written by `update`
  std::optional<BufferId> gradient_norm;       ///< f32[], written by `update`: before clipping
  /// i64[], written by the trainer before each micro program: how many samples the training has taken before the first
  /// one of this micro batch, over all ranks.
  std::optional<BufferId> sample;
};

inline constexpr std::int32_t plan_format_version = 3;

struct ExecutionPlan {
  std::int32_t format_version = plan_format_version;
  std::string target;  ///< CPU triple and features that `objects` were compiled for
  JobSpec job;

  std::vector<Buffer> buffers;
  std::int64_t arena_bytes[num_arenas] = {};
  std::vector<TensorSpec> tensors;  ///< all persistent tensors, in checkpoint order
  std::vector<std::string> constants;  ///< raw bytes, by position of the constant buffers in `constant_buffers`
  std::vector<BufferId> constant_buffers;

  std::vector<std::string> objects;
  std::vector<Kernel> kernels;
  std::vector<Collective> collectives;

  // A training step is: micro_first (or micro_only when gradient_accumulation = 1), micro_middle..., micro_last, update.
  // `only` and `last` start the collectives as soon as each bucket is complete and wait for all of them at their end,
  // so that after them the metrics and gradients are global.
  Program micro_only, micro_first, micro_middle, micro_last;
  Program update;
  Program evaluate;  ///< one micro batch

  Ports ports;

  /// Of everything that decides the numbers: buffers, programs, collectives, job (paths and log intervals excepted).
  /// Ranks compare it before step 1; a checkpoint records it.
  std::uint64_t hash = 0;
};

using dtj::to_string;
std::string_view to_string(Arena arena);
std::string_view to_string(BufferClass cls);
std::string_view to_string(BuiltinOp op);

}  // namespace dtj::plan
