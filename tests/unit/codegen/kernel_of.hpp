#pragma once

#include <functional>
#include <memory>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/ir/graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/codegen/jit_runner.hpp"

namespace dtj::test {

/// The kernel of a graph that fuses into one region, ready to call.
struct SingleKernel {
  std::unique_ptr<device::KernelLoader> loader;
  device::KernelFn function = nullptr;
  codegen::KernelUse use;

  void operator()(const std::vector<void*>& buffers) const { function(buffers.data(), use.extent, 0, use.work_items); }
};

inline SingleKernel kernel_of(const ir::Graph& graph, const std::string& cpu = "") {
  const ir::Graph fused = fuse(graph);
  REQUIRE(count_fused(fused) == 1);
  auto compiler = cpu.empty() ? std::make_unique<codegen::HostKernelCompiler>()
                              : std::make_unique<codegen::HostKernelCompiler>(cpu);
  SingleKernel kernel;
  for (const ir::Node& node : fused.nodes())
    if (node.op == ir::Op::fused) kernel.use = compiler->add(node, fused).value();
  const auto output = compiler->finish(1).value();
  plan::ExecutionPlan plan;
  plan.target = output.target;
  plan.objects = output.objects;
  plan.kernels = output.kernels;
  kernel.loader = codegen::make_host_kernel_loader().value();
  kernel.function = kernel.loader->load(plan).value().at(kernel.use.kernel.value);
  return kernel;
}

}  // namespace dtj::test
