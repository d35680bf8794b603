#include "engine/run/executor_steps.hpp"

namespace dtj::run {
namespace {

using Call = decltype(ResolvedStep::call);

struct Resolver {
  const plan::ExecutionPlan& plan;
  const std::vector<std::byte*>& buffers;
  const std::vector<device::KernelFn>& functions;
  std::byte* gradient_arena;

  std::byte* data(plan::BufferId id) const { return buffers[id.value]; }
  const plan::Buffer& buffer(plan::BufferId id) const { return plan.buffers[id.value]; }

  Call operator()(const plan::KernelStep& step) const {
    KernelCall call{functions[step.kernel.value], {}, step.extent, step.work_items, step.grain};
    for (const plan::BufferId arg : step.args) call.args.push_back(data(arg));
    return call;
  }
  Call operator()(const plan::GemmStep& step) const {
    return GemmCall{&step, buffer(step.a).dtype, buffer(step.c).dtype, data(step.a), data(step.b), data(step.c)};
  }
  Call operator()(const plan::BuiltinStep& step) const { return make_builtin_call(plan, step, buffers); }
  Call operator()(const plan::CopyStep& step) const {
    return CopyCall{data(step.from), data(step.to), static_cast<std::size_t>(buffer(step.to).size)};
  }
  Call operator()(const plan::FillZeroStep& step) const {
    return ZeroCall{data(step.to), static_cast<std::size_t>(buffer(step.to).size)};
  }
  Call operator()(const plan::CollectiveStartStep& step) const {
    const plan::Collective& collective = plan.collectives[step.collective.value];
    return StartCall{&collective, step.collective.value, gradient_arena + collective.offset};
  }
  Call operator()(const plan::CollectiveWaitStep& step) const {
    return WaitCall{&plan.collectives[step.collective.value], step.collective.value};
  }
};

}  // namespace

std::vector<ResolvedStep> resolve_steps(const plan::ExecutionPlan& plan, const plan::Program& program,
                                        const std::vector<std::byte*>& buffers,
                                        const std::vector<device::KernelFn>& functions, std::byte* gradient_arena) {
  const Resolver resolver{plan, buffers, functions, gradient_arena};
  std::vector<ResolvedStep> steps;
  steps.reserve(program.steps.size());
  for (const plan::Step& step : program.steps) steps.push_back({std::visit(resolver, step.what), &step});
  return steps;
}

}  // namespace dtj::run
