#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/source/source.hpp"
#include "engine/base/dtype.hpp"
#include "engine/base/job_spec.hpp"
#include "engine/base/shape.hpp"

// What the checker proves about a function of the job: a straight line of typed tensor operations. Modules are
// instantiated, loops over module lists unrolled, constants folded and compile-time branches taken; every shape is a
// number. `lower` turns it into IR, one file per construct.

namespace dtj::check {

using TensorRef = std::uint32_t;  ///< index into Trace::tensors

/// How `lower` must read `operands` and the attributes of an op. Reductions: `ints` = axes (non-negative), `flag` = keep dims.
enum class TraceOp : std::uint8_t {
  input,         ///< made by Trace::inputs
  constant,      ///< scalar `number` of dtype
  iota,          ///< i32[n]: 0, 1, ..., n-1
  neg, exp, log, sqrt, rsqrt, tanh, erf, sin, cos, abs, floor, sign, logical_not,
  add, sub, mul, div, pow, maximum, minimum,   ///< operands broadcast to the right; dtypes agree (a par operand was cast)
  eq, ne, lt, le, gt, ge, logical_and, logical_or,  ///< result bool
  where,         ///< condition, a, b; broadcast to the right
  cast,          ///< to the result's dtype
  sum, mean, max, min,   ///< over `ints`; sums of bf16 accumulate in f32
  argmax,        ///< over `ints[0]`; i32
  einsum,        ///< `text` = "bhqd,bhkd->bhqk" with every "..." already expanded to letters; two operands or one
  rearrange,     ///< `text` = "b t (s h d) -> s b h t d"; `names` + `ints` give the size of every name
  reshape,       ///< to the result's shape
  transpose,     ///< `ints` = permutation: result dim i is operand dim ints[i]
  broadcast_to,  ///< to the result's shape, to the right
  slice,         ///< `ints` = begin_0, end_0, begin_1, end_1, ... of every dim
  concat,        ///< along ints[0]
  pad,           ///< with zeros; `ints` = before_0, after_0, before_1, after_1, ... of every dim
  windows,       ///< `ints` = axis, size, stride, ...: see ops.def
  random,        ///< uniform in [0, 1), f32; the operand is the input `sample`; `text` = the name of the stream
  all_mean,      ///< over the data-parallel ranks
  gather_rows,   ///< table[V, C], index i32[...] -> [..., C]
  stop_gradient,
};

std::string_view to_string(TraceOp op);

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
};

struct TracedTensor {
  TraceOp op = TraceOp::constant;
  std::vector<TensorRef> operands;
  TensorType type;
  std::vector<std::int64_t> ints;
  std::vector<std::string> names;
  std::string text;
  double number = 0;
  bool flag = false;
  source::Range range;  ///< the expression in the job or in the library
};

enum class InputKind : std::uint8_t {
  param,      ///< index into CheckedJob::params
  state,      ///< optimizer state: index into CheckedJob::states
  gradient,   ///< gradient of a parameter (f32): index into CheckedJob::params
  batch,      ///< index into DataSpec::fields
  step,       ///< f64[], 0 for the first step
  buffer,     ///< index into CheckedJob::buffers
  weight,     ///< f32[]: the sum of the metric `weight` over the global batch; index into JobSpec::metrics
  sample,     ///< i64[]: samples that the training has taken before the first one of this micro batch
};

struct TraceInput {
  TensorRef tensor = 0;
  InputKind kind = InputKind::param;
  std::uint32_t index = 0;
};

enum class OutputKind : std::uint8_t {
  metric,         ///< index into JobSpec::metrics; f32[]; metric 0 is the loss
  param,          ///< the updated parameter
  state,          ///< the updated optimizer state
  buffer,         ///< the new value of a module's buffer
  learning_rate,  ///< f32[]
  gradient_norm,  ///< f32[], before clipping
};

struct TraceOutput {
  TensorRef tensor = 0;
  OutputKind kind = OutputKind::metric;
  std::uint32_t index = 0;
};

struct Trace {
  std::string name;
  std::vector<TracedTensor> tensors;  ///< operands come before their uses
  std::vector<TraceInput> inputs;
  std::vector<TraceOutput> outputs;
  /// A call that leaves some targets out of its mean, so that micro batches may hold different numbers of them.
  std::optional<source::Range> uneven_mean;
};

/// A parameter of the model, in declaration order, depth first.
struct ParamInfo {
  std::string name;  ///< "h.0.attn.qkv.weight"
  TensorType type;   ///< storage dtype
  InitSpec init;
  source::Range range;
  bool is_frozen = false;  ///< has no gradient and no state, and is never updated
};

/// What happens to the gradients before `update` sees them.
struct ClipPolicy {
  std::optional<double> norm;   ///< of all gradients together
  std::optional<double> value;  ///< of each element
};

/// A buffer of a module: not trained, assigned by `forward` while training.
struct BufferInfo {
  std::string name;  ///< "c1.bn.running_mean"
  TensorType type;
  InitSpec init;
  source::Range range;
};

/// One state tensor of the optimizer for one parameter; always f32.
struct StateInfo {
  std::string name;  ///< "m/h.0.attn.qkv.weight"
  std::uint32_t param = 0;
  TensorType type;
  InitSpec init;
};

}  // namespace dtj::check
