#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "engine/base/result.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::codegen {

/// The graphs of a job after their passes, and the persistent tensors they speak about.
struct PlanInput {
  JobSpec job;
  struct Tensor {
    std::string name;
    ir::Type type;
    InitSpec init;
  };
  std::vector<Tensor> params;
  std::vector<Tensor> states;
  std::vector<Tensor> buffers;  ///< of modules
  /// gradient_accumulation = 1: `micro_only`; otherwise the other three.
  std::optional<ir::Graph> micro_only, micro_first, micro_middle, micro_last;
  ir::Graph update;
  std::optional<ir::Graph> evaluate;
  std::function<plan::SourceLocation(source::Range)> locate;
  int compile_threads = 2;
};

/// Assigns buffers (arena with liveness and in-place updates; gradient buckets contiguous in the order of the
/// collectives), compiles the kernels and writes the programs. Collectives start right after the last producer of their
/// bucket.
Result<plan::ExecutionPlan> emit_plan(const PlanInput& input);

}  // namespace dtj::codegen
