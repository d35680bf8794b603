#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "engine/device/kernel_loader.hpp"
#include "engine/plan/plan.hpp"
#include "engine/run/executor_builtins.hpp"

// A program with every id replaced by what it names, so that walking it looks nothing up.

namespace dtj::run {

struct KernelCall {
  device::KernelFn function = nullptr;
  std::vector<void*> args;
  std::int64_t extent = 0, work_items = 0, grain = 1;
};

struct GemmCall {
  const plan::GemmStep* step = nullptr;
  DType a_dtype = DType::f32, c_dtype = DType::f32;
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
};

struct CopyCall {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};

struct ZeroCall {
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};

struct StartCall {
  const plan::Collective* collective = nullptr;
  std::size_t index = 0;
  void* data = nullptr;
};

struct WaitCall {
  const plan::Collective* collective = nullptr;
  std::size_t index = 0;
};

struct ResolvedStep {
  std::variant<KernelCall, GemmCall, BuiltinCall, CopyCall, ZeroCall, StartCall, WaitCall> call;
  const plan::Step* step = nullptr;  ///< for messages
};

/// `buffers` are the addresses of plan.buffers, `functions` those of plan.kernels. The plan passes `verify` and
/// outlives the result.
std::vector<ResolvedStep> resolve_steps(const plan::ExecutionPlan& plan, const plan::Program& program,
                                        const std::vector<std::byte*>& buffers,
                                        const std::vector<device::KernelFn>& functions, std::byte* gradient_arena);

}  // namespace dtj::run
