#include "engine/plan/verify_steps.hpp"

#include <functional>

#include <fmt/format.h>

namespace dtj::plan {
namespace {

tl::unexpected<Error> bad(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

std::int64_t elements_of(const Buffer& buffer) {
  return buffer.size / static_cast<std::int64_t>(size_of(buffer.dtype));
}

/// How the elements of one matrix operand lie in its buffer.
struct Operand {
  const char* name;
  BufferId buffer;
  std::int64_t rows, cols, ld, stride;
};

class StepVerifier {
 public:
  explicit StepVerifier(const ExecutionPlan& plan) : plan_(plan), states_(plan.collectives.size(), State::idle) {}

  Status operator()(const KernelStep& step) {
    if (step.kernel.value >= plan_.kernels.size())
      return bad(fmt::format("kernel {} does not exist", step.kernel.value));
    if (step.work_items < 0 || step.grain < 1 || step.extent < 0) {
      return bad(fmt::format("work_items {}, grain {}, extent {}", step.work_items, step.grain, step.extent));
    }
    return check_ids(step.args);
  }

  Status operator()(const GemmStep& step) {
    DTJ_TRY(check_ids({step.a, step.b, step.c}));
    const DType a_dtype = buffer(step.a).dtype;
    const DType c_dtype = buffer(step.c).dtype;
    const bool dtypes_fit = (a_dtype == DType::f32 || a_dtype == DType::bf16) && buffer(step.b).dtype == a_dtype &&
                            (c_dtype == DType::f32 || c_dtype == DType::bf16);
    if (!dtypes_fit) {
      return bad(fmt::format("gemm of {} and {} into {}", to_string(a_dtype), to_string(buffer(step.b).dtype),
                             to_string(c_dtype)));
    }
    if (step.m < 0 || step.n < 0 || step.k < 0 || step.batch < 0) {
      return bad(fmt::format("gemm of batch {}, m {}, n {}, k {}", step.batch, step.m, step.n, step.k));
    }
    if (step.batch > 1 && step.stride_c == 0 && step.m > 0 && step.n > 0)
      return bad("gemm writes all its batches to one place");
    DTJ_TRY(check_operand(step.trans_a ? Operand{"a", step.a, step.k, step.m, step.lda, step.stride_a}
                                       : Operand{"a", step.a, step.m, step.k, step.lda, step.stride_a},
                          step.batch));
    DTJ_TRY(check_operand(step.trans_b ? Operand{"b", step.b, step.n, step.k, step.ldb, step.stride_b}
                                       : Operand{"b", step.b, step.k, step.n, step.ldb, step.stride_b},
                          step.batch));
    return check_operand({"c", step.c, step.m, step.n, step.ldc, step.stride_c}, step.batch);
  }

  Status operator()(const BuiltinStep& step) {
    DTJ_TRY(check_ids(step.args));
    switch (step.op) {
      case BuiltinOp::gather_rows:
        return check_gather(step.args);
      case BuiltinOp::scatter_add_rows:
        return check_scatter(step.args);
      case BuiltinOp::argmax_last:
        return check_argmax(step.args);
    }
    return bad("unknown builtin");
  }

  Status operator()(const CopyStep& step) {
    DTJ_TRY(check_ids({step.from, step.to}));
    if (buffer(step.from).size == buffer(step.to).size) return {};
    return bad(fmt::format("copy of {} bytes into {} bytes", buffer(step.from).size, buffer(step.to).size));
  }

  Status operator()(const FillZeroStep& step) { return check_ids({step.to}); }

  Status operator()(const CollectiveStartStep& step) {
    DTJ_TRY(expect_state(step.collective, State::idle, "started twice"));
    states_[step.collective.value] = State::in_flight;
    return {};
  }

  Status operator()(const CollectiveWaitStep& step) {
    DTJ_TRY(expect_state(step.collective, State::in_flight, "waited for, but not in flight"));
    states_[step.collective.value] = State::done;
    return {};
  }

  Status at_end() const {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i] == State::in_flight) return bad(fmt::format("collective {} is started and never waited for", i));
    }
    return {};
  }

 private:
  enum class State { idle, in_flight, done };

  const Buffer& buffer(BufferId id) const { return plan_.buffers[id.value]; }

  Status check_ids(const std::vector<BufferId>& ids) const {
    for (const BufferId id : ids) {
      if (id.value >= plan_.buffers.size()) return bad(fmt::format("buffer {} does not exist", id.value));
    }
    return {};
  }

  Status expect_state(CollectiveId id, State expected, std::string_view message) const {
    if (id.value >= states_.size()) return bad(fmt::format("collective {} does not exist", id.value));
    if (states_[id.value] != expected) return bad(fmt::format("collective {} is {}", id.value, message));
    return {};
  }

  /// The last element of the last batch entry must lie inside the buffer.
  Status check_operand(const Operand& operand, std::int64_t batch) const {
    if (operand.ld < operand.cols || operand.stride < 0) {
      return bad(fmt::format("gemm operand {}: {} columns, leading dimension {}, batch stride {}", operand.name,
                             operand.cols, operand.ld, operand.stride));
    }
    if (operand.rows == 0 || operand.cols == 0 || batch == 0) return {};
    std::int64_t over_batch = 0, over_rows = 0, last = 0;
    const bool overflows = __builtin_mul_overflow(batch - 1, operand.stride, &over_batch) ||
                           __builtin_mul_overflow(operand.rows - 1, operand.ld, &over_rows) ||
                           __builtin_add_overflow(over_batch, over_rows, &last) ||
                           __builtin_add_overflow(last, operand.cols, &last);
    if (!overflows && last <= elements_of(buffer(operand.buffer))) return {};
    return bad(
        fmt::format("gemm operand {} reads past buffer `{}` of {} elements: batch {}, {} x {}, leading dimension {}",
                    operand.name, buffer(operand.buffer).name, elements_of(buffer(operand.buffer)), batch, operand.rows,
                    operand.cols, operand.ld));
  }

  Status expect_builtin(bool holds, std::string_view rule) const {
    if (holds) return {};
    return bad(std::string(rule));
  }

  Status check_gather(const std::vector<BufferId>& args) const {
    constexpr auto rule = "gather_rows needs table[V, C], i32 index[N] and out[N, C] of the table's dtype";
    DTJ_TRY(expect_builtin(args.size() == 3 && buffer(args[0]).shape.size() == 2, rule));
    const Buffer &table = buffer(args[0]), &index = buffer(args[1]), &out = buffer(args[2]);
    std::int64_t expected = 0;
    const bool fits = index.dtype == DType::i32 && out.dtype == table.dtype &&
                      !__builtin_mul_overflow(elements_of(index), table.shape[1], &expected) &&
                      elements_of(out) == expected;
    return expect_builtin(fits, rule);
  }

  Status check_scatter(const std::vector<BufferId>& args) const {
    constexpr auto rule = "scatter_add_rows needs i32 index[N], grad[N, C] and out[V, C], f32 or bf16";
    DTJ_TRY(expect_builtin(args.size() == 3 && buffer(args[2]).shape.size() == 2, rule));
    const Buffer &index = buffer(args[0]), &grad = buffer(args[1]), &out = buffer(args[2]);
    const auto is_summable = [](DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; };
    std::int64_t expected = 0;
    const bool fits = index.dtype == DType::i32 && is_summable(grad.dtype) && is_summable(out.dtype) &&
                      !__builtin_mul_overflow(elements_of(index), out.shape[1], &expected) &&
                      elements_of(grad) == expected;
    return expect_builtin(fits, rule);
  }

  Status check_argmax(const std::vector<BufferId>& args) const {
    constexpr auto rule = "argmax_last needs f32 or bf16 x[R, C] with C > 0 and i32 out[R]";
    DTJ_TRY(expect_builtin(args.size() == 2 && !buffer(args[0]).shape.empty(), rule));
    const Buffer &x = buffer(args[0]), &out = buffer(args[1]);
    std::int64_t expected = 0;
    const bool fits = (x.dtype == DType::f32 || x.dtype == DType::bf16) && out.dtype == DType::i32 &&
                      (x.shape.back() > 0 || out.size == 0) &&
                      !__builtin_mul_overflow(elements_of(out), x.shape.back(), &expected) &&
                      elements_of(x) == expected;
    return expect_builtin(fits, rule);
  }

  const ExecutionPlan& plan_;
  std::vector<State> states_;
};

}  // namespace

Status verify_program(const ExecutionPlan& plan, const Program& program) {
  const std::int64_t arena = plan.arena_bytes[static_cast<int>(Arena::transient)];
  if (program.transient_bytes < 0 || program.transient_bytes > arena) {
    return bad(
        fmt::format("program `{}` needs {} transient bytes of {}", program.name, program.transient_bytes, arena));
  }
  StepVerifier verifier(plan);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (auto status = std::visit(std::ref(verifier), step.what); !status) {
      return fail_with(std::move(status.error()), fmt::format("program `{}` step {} `{}` at {}:{}", program.name, i,
                                                              step.label, step.source.file, step.source.line));
    }
  }
  return verifier.at_end();
}

}  // namespace dtj::plan
