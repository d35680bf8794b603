#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/codegen/arena.hpp"
#include "compiler/codegen/shared_buffers.hpp"

namespace dtj::codegen {

// Time inside of a program: node i runs at 2 (i + 1), collectives start at the odd times between nodes, the last copies
// run after everything.
using Time = std::int64_t;
inline Time time_of(ir::NodeId node) {
  return 2 * (static_cast<Time>(node.value) + 1);
}

/// An all_reduce of the program.
struct BucketReduction {
  ir::NodeId node;
  Time start = 0;                     ///< after the last producer of its operands
  std::vector<plan::BufferId> slots;  ///< one per operand: where the bucket holds it, before and after
  std::optional<plan::CollectiveId> collective = {};
};

struct FinalCopy {
  plan::BufferId from, to;
  std::optional<plan::BufferId> stage;  ///< `from` goes here before any `to` is written
};

/// Where every value of one program lives.
struct ProgramMemory {
  std::vector<std::optional<plan::BufferId>> buffers;  ///< by value; a reshape has the buffer of its operand
  std::vector<BucketReduction> reductions;                ///< in the order of the nodes
  std::vector<FinalCopy> final_copies;                 ///< outputs that could not be produced in place
  std::vector<Interval> intervals;                     ///< the transient arena
  std::int64_t transient_bytes = 0;
};

/// Outputs are produced in their final buffers where that is legal, kernels overwrite operands that die in them where
/// that is safe, and everything else is laid out by liveness. Adds the program's buffers to the plan. Errors: internal.
Result<ProgramMemory> plan_memory(const ir::Graph& graph, ProgramRole role, const SharedBuffers& shared,
                                  plan::ExecutionPlan& plan);

/// True if the kernel of the fused node may write the result over the operand: it reads every element of the operand
/// before it writes there, also when other results overwrite other operands. Their sizes must be equal.
bool can_overwrite(const ir::Node& fused, std::size_t operand, std::size_t result);

}  // namespace dtj::codegen
