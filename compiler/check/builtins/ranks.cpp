#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// What depends on which rank and which sample it is: random numbers and means over the ranks. Only while training: an
// evaluation gives the same result in any order of its samples, and its ranks need not do the same number of batches.

namespace dtj::check {

namespace {

bool is_training(PrimitiveCall& call) {
  if (!call.in.is_recording() || call.in.recording().training) return true;
  call.fail(diag::Kind::training_only, call.range, fmt::format("`{}` has no meaning in an evaluation", call.name),
            "write `if training { ... } else { ... }`");
  return false;
}

/// f32 of the shape of x, uniform in [0, 1): another stream for every call, the same numbers for the same sample.
Value run_random_like(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  if (!x || !is_training(call)) return {};
  if (!call.in.is_recording()) return call.in.emit({}, DType::f32, x->dims, call.range);  // reports it
  Recording& recording = call.in.recording();
  const auto first = x->dims.empty() ? std::optional<std::int64_t>(0) : x->dims[0].number();
  if (recording.micro_batch > 0 && first && (*first == 0 || *first % recording.micro_batch != 0)) {
    return call.fail(diag::Kind::shape_mismatch, call.args[0].range,
                     fmt::format("`random_like` takes a tensor whose first dim counts the samples, found {}",
                                 describe(call.args[0])),
                     fmt::format("the first dim must be a multiple of the micro batch, {}", recording.micro_batch));
  }
  if (!recording.sample) {
    const Value sample = call.in.emit_input(InputKind::sample, 0, DType::i64, {}, false, call.range);
    if (sample.is_poison()) return {};
    recording.sample = call.in.ref(sample);
  }
  TracedTensor op;
  op.op = TraceOp::random;
  op.operands = {*recording.sample};
  op.ints = {recording.micro_batch};
  op.text = fmt::format("random.{}", recording.num_random++);
  return call.in.emit(std::move(op), DType::f32, x->dims, call.range);
}

Value run_all_mean(PrimitiveCall& call) {
  const auto* x = call.tensor(0);
  if (!x || !is_training(call)) return {};
  if (x->dtype != DType::f32) {
    return call.fail(diag::Kind::dtype_mismatch, call.args[0].range,
                     fmt::format("`all_mean` takes f32, found {}", describe(call.args[0])),
                     fmt::format("convert it: `all_mean({} as f32)`", call.in.text_of(call.args[0].range)));
  }
  TracedTensor op;
  op.op = TraceOp::all_mean;
  op.operands = {x->ref};
  return call.in.emit(std::move(op), DType::f32, x->dims, call.range);
}

Value run_num_ranks(PrimitiveCall& call) {
  return {call.in.num_ranks, call.range};
}

}  // namespace

std::vector<Primitive> rank_primitives() {
  return {
      {"all_mean", "x", run_all_mean},
      {"num_ranks", "", run_num_ranks},
      {"random_like", "x", run_random_like},
  };
}

}  // namespace dtj::check
