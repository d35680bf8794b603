#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/codegen/host/loop_nest.hpp"
#include "compiler/codegen/host/schedule.hpp"
#include "compiler/codegen/host/target.hpp"

namespace dtj::codegen {

/// How the work of a nest is split between calls.
struct WorkSplit {
  std::int64_t extent = 0;      ///< of a flat nest
  std::int64_t work_items = 0;  ///< flat: elements; elementwise and row: rows; column: blocks of columns
  std::int64_t grain = 1;       ///< so many that a call is worth its cost
};

/// Lanes of the loops over the vector dim, widest first, each a multiple of the next: what one leaves over, the next
/// does.
std::vector<int> pick_widths(const LoopNest& nest, const Schedule& schedule, const TargetSpec& target);
WorkSplit split_work(const LoopNest& nest, const Schedule& schedule, const TargetSpec& target);

/// Adds a function of type device::KernelFn to the module.
void emit_kernel(llvm::Module& module, const LoopNest& nest, const Schedule& schedule, const TargetSpec& target,
                 const std::string& symbol);

}  // namespace dtj::codegen
