#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/emit_plan.hpp"
#include "engine/base/result.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::codegen {

/// Which programs share a meaning of `metric` and `batch`.
enum class ProgramRole : std::uint8_t { train, update, evaluate };

/// One all_reduce of a program: where its results lie, and what reduces them (none: the only rank keeps what it has).
struct SharedReduction {
  std::vector<plan::BufferId> slots;
  std::optional<plan::CollectiveId> collective;
};

/// The buffers that outlive one program: what its ports stand for.
struct SharedBuffers {
  std::vector<plan::BufferId> params, module_buffers, states;  ///< Arena::persistent, in checkpoint order
  std::vector<std::optional<plan::BufferId>> gradients;  ///< Arena::gradient, by parameter; none: it is frozen
  std::vector<plan::BufferId> train_metrics;             ///< Arena::gradient
  std::vector<plan::BufferId> eval_metrics, learning_rate,
      gradient_norm;                                          ///< Arena::gradient; the last two hold 0 or 1
  std::vector<plan::BufferId> train_batch, eval_batch, step, sample;  ///< Arena::batch; the last two hold 0 or 1
  std::map<const ir::Graph*, std::vector<SharedReduction>> reductions;  ///< by program, in the order of its nodes

  /// Errors: internal, if the port or index is not one of a program.
  Result<plan::BufferId> find(ProgramRole role, ir::Port port, std::uint32_t index) const;
};

/// Adds the shared buffers, the collectives (for more than one data-parallel rank) and the ports to the plan.
/// Errors: internal (the graphs disagree about a buffer).
Result<SharedBuffers> lay_out_shared(const PlanInput& input, plan::ExecutionPlan& plan);

/// Appends a buffer at the aligned end of its arena, or at `offset` without moving that end.
plan::BufferId append_buffer(plan::ExecutionPlan& plan, plan::Buffer buffer);
plan::BufferId append_buffer_at(plan::ExecutionPlan& plan, plan::Buffer buffer, std::int64_t offset);

/// Bytes of a tensor.
std::int64_t size_of(const ir::Type& type);

/// The value of which `value` is a reshape (of a reshape ...), which has no memory of its own.
ir::ValueId storage_root(const ir::Graph& graph, ir::ValueId value);

}  // namespace dtj::codegen
