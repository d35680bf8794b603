#pragma once

#include <utility>
#include <vector>

#include "engine/device/kernel_loader.hpp"

namespace dtj::test {

/// Gives a plan's kernels functions of this program.
class NativeKernels final : public device::KernelLoader {
 public:
  explicit NativeKernels(std::vector<device::KernelFn> functions) : functions_(std::move(functions)) {}
  Result<std::vector<device::KernelFn>> load(const plan::ExecutionPlan&) override { return functions_; }

 private:
  std::vector<device::KernelFn> functions_;
};

}  // namespace dtj::test
