#pragma once

#include <string>

#include "compiler/codegen/emit_plan.hpp"
#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/codegen/shared_buffers.hpp"

namespace dtj::codegen {

/// Writes the steps of one program in the order of the graph's nodes, and registers its kernels. `plan` gets the
/// program's buffers and constants. Errors: unimplemented (with the op and its line), internal.
Result<plan::Program> emit_program(const ir::Graph& graph, const std::string& name, ProgramRole role,
                                   const PlanInput& input, const SharedBuffers& shared, HostKernelCompiler& kernels,
                                   plan::ExecutionPlan& plan);

/// The bytes of a `constant` or `iota`.
std::string constant_bytes(const ir::Node& node, const ir::Type& type);

/// "fused(add,gelu)", "matmul 768x128x128": what a step computes, for traces and messages.
std::string label_of(const ir::Node& node, const ir::Graph& graph);

}  // namespace dtj::codegen
