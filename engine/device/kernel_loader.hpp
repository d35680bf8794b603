#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/result.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::device {

/// `buffers` are the step's args; `extent` its run-time size; the call does work items [begin, end).
using KernelFn = void (*)(void* const* buffers, std::int64_t extent, std::int64_t begin, std::int64_t end);

/// Turns a plan's object files into callable code. The engine declares it, the compiler's codegen implements it, so
/// the engine itself needs no LLVM. The functions live as long as the loader.
class KernelLoader {
 public:
  virtual ~KernelLoader() = default;

  /// One function per plan.kernels. Errors: unimplemented (the plan was compiled for another CPU), data_loss.
  virtual Result<std::vector<KernelFn>> load(const plan::ExecutionPlan& plan) = 0;
};

}  // namespace dtj::device
