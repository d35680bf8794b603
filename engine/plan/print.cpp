#include "engine/plan/print.hpp"

#include <iterator>

#include <fmt/format.h>

namespace dtj::plan {
namespace {

class StepPrinter {
 public:
  explicit StepPrinter(const ExecutionPlan& plan) : plan_(plan) {}

  std::string operator()(const KernelStep& step) const {
    return fmt::format("kernel {} ({}) items {} grain {} extent {}", plan_.kernels.at(step.kernel.value).symbol,
                       names(step.args), step.work_items, step.grain, step.extent);
  }
  std::string operator()(const GemmStep& step) const {
    return fmt::format("gemm {}{} x {}{} -> {}{} batch {} m {} n {} k {} ld {} {} {} stride {} {} {}", name(step.a),
                       step.trans_a ? "^T" : "", name(step.b), step.trans_b ? "^T" : "", name(step.c),
                       step.accumulate ? " +=" : "", step.batch, step.m, step.n, step.k, step.lda, step.ldb, step.ldc,
                       step.stride_a, step.stride_b, step.stride_c);
  }
  std::string operator()(const BuiltinStep& step) const {
    return fmt::format("{} ({})", to_string(step.op), names(step.args));
  }
  std::string operator()(const CopyStep& step) const {
    return fmt::format("copy {} -> {}", name(step.from), name(step.to));
  }
  std::string operator()(const FillZeroStep& step) const { return fmt::format("zero {}", name(step.to)); }
  std::string operator()(const CollectiveStartStep& step) const {
    return fmt::format("start {}", plan_.collectives.at(step.collective.value).name);
  }
  std::string operator()(const CollectiveWaitStep& step) const {
    return fmt::format("wait {}", plan_.collectives.at(step.collective.value).name);
  }

 private:
  std::string name(BufferId id) const {
    const Buffer& buffer = plan_.buffers.at(id.value);
    return fmt::format("{}:{}{}", buffer.name, to_string(buffer.dtype), to_string(buffer.shape));
  }
  std::string names(const std::vector<BufferId>& ids) const {
    std::string text;
    for (const BufferId id : ids) text += (text.empty() ? "" : ", ") + name(id);
    return text;
  }

  const ExecutionPlan& plan_;
};

void print_program(std::string& text, const ExecutionPlan& plan, const Program& program) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "program {}: {} steps, transient peak {}\n", program.name, program.steps.size(),
                 to_string(Bytes{program.transient_bytes}));
  const StepPrinter printer(plan);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    fmt::format_to(out, "  {:>4}  {}", i, std::visit(printer, step.what));
    if (!step.label.empty()) fmt::format_to(out, "  `{}`", step.label);
    if (!step.source.file.empty()) fmt::format_to(out, "  {}:{}", step.source.file, step.source.line);
    text += '\n';
  }
}

}  // namespace

std::string listing(const ExecutionPlan& plan) {
  std::string text;
  for (const Program* program :
       {&plan.micro_only, &plan.micro_first, &plan.micro_middle, &plan.micro_last, &plan.update, &plan.evaluate}) {
    if (!program->steps.empty()) print_program(text, plan, *program);
  }
  return text;
}

}  // namespace dtj::plan
