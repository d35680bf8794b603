#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "engine/base/result.hpp"
#include "engine/device/kernel_loader.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::codegen {

/// How to call the kernel of one fused node.
struct KernelUse {
  plan::KernelId kernel;
  std::int64_t extent = 0;
  std::int64_t work_items = 0;
  std::int64_t grain = 1;
};

/// Compiles fused nodes for the CPU at hand. Nodes with the same region share a kernel; flat element-wise regions share
/// one for all sizes.
class HostKernelCompiler {
 public:
  HostKernelCompiler();
  /// For a CPU by LLVM's name ("x86-64", "sapphirerapids", ...), which must exist.
  explicit HostKernelCompiler(const std::string& cpu);
  ~HostKernelCompiler();

  /// Registers the node (its args are operands, then results, all contiguous row-major).
  /// Errors: unimplemented (names the op).
  Result<KernelUse> add(const ir::Node& fused, const ir::Graph& graph);

  struct Output {
    std::string target;  ///< triple, CPU and features
    std::vector<std::string> objects;
    std::vector<plan::Kernel> kernels;
  };
  /// Optimises and emits all kernels, on up to `num_threads` threads.
  Result<Output> finish(int num_threads);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// True if the kernel of the node reads no element of the operand after it has written that element of the result, so
/// both may be one buffer. Their sizes must be equal.
bool can_run_in_place(const ir::Node& fused, std::size_t operand, std::size_t result);

/// Links the plan's objects into this process with OrcJIT.
Result<std::unique_ptr<device::KernelLoader>> make_host_kernel_loader();

}  // namespace dtj::codegen
