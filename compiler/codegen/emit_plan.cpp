#include "compiler/codegen/emit_plan.hpp"

#include <algorithm>

#include "compiler/codegen/arena.hpp"
#include "compiler/codegen/emit_program.hpp"
#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/codegen/shared_buffers.hpp"
#include "engine/plan/serialize.hpp"
#include "engine/plan/verify.hpp"

namespace dtj::codegen {
namespace {

/// One program of the plan and where it goes.
struct Part {
  const char* name;
  ProgramRole role;
  const ir::Graph* graph;  ///< null: the plan lacks it
  plan::Program plan::ExecutionPlan::*program;
};

std::vector<Part> parts_of(const PlanInput& input) {
  const auto graph = [](const std::optional<ir::Graph>& candidate) { return candidate ? &*candidate : nullptr; };
  using plan::ExecutionPlan;
  return {{"micro_only", ProgramRole::train, graph(input.micro_only), &ExecutionPlan::micro_only},
          {"micro_first", ProgramRole::train, graph(input.micro_first), &ExecutionPlan::micro_first},
          {"micro_middle", ProgramRole::train, graph(input.micro_middle), &ExecutionPlan::micro_middle},
          {"micro_last", ProgramRole::train, graph(input.micro_last), &ExecutionPlan::micro_last},
          {"update", ProgramRole::update, &input.update, &ExecutionPlan::update},
          {"evaluate", ProgramRole::evaluate, graph(input.evaluate), &ExecutionPlan::evaluate}};
}

}  // namespace

Result<plan::ExecutionPlan> emit_plan(const PlanInput& input) {
  plan::ExecutionPlan plan;
  plan.job = input.job;
  DTJ_TRY_ASSIGN(const SharedBuffers shared, lay_out_shared(input, plan));

  HostKernelCompiler kernels;  // one for all programs, so that they share kernels
  auto& transient = plan.arena_bytes[static_cast<std::size_t>(plan::Arena::transient)];
  for (const auto& part : parts_of(input)) {
    if (part.graph == nullptr) continue;
    auto program = emit_program(*part.graph, part.name, part.role, input, shared, kernels, plan);
    if (!program) return fail_with(std::move(program.error()), std::string("program ") + part.name);
    transient = std::max(transient, program->transient_bytes);
    plan.*part.program = std::move(*program);
  }

  DTJ_TRY_ASSIGN(auto compiled, kernels.finish(input.compile_threads));
  plan.target = std::move(compiled.target);
  plan.objects = std::move(compiled.objects);
  plan.kernels = std::move(compiled.kernels);
  plan.hash = plan::compute_hash(plan);
  // A plan of ours that its reader would refuse is our own bug.
  if (auto status = plan::verify(plan); !status) {
    status.error().code = ErrorCode::internal;
    return fail_with(std::move(status.error()), "emit_plan");
  }
  return plan;
}

}  // namespace dtj::codegen
