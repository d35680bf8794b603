#include "compiler/codegen/host/kernel_compiler.hpp"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <gsl/gsl>
#include <numeric>
#include <thread>
#include <unordered_map>

#include "compiler/codegen/host/kernel_emitter.hpp"
#include "engine/base/hash.hpp"

namespace dtj::codegen {
namespace {

bool uses_f16(const LoopNest& nest) {
  return std::any_of(nest.exprs.begin(), nest.exprs.end(), [](const Expr& expr) { return expr.dtype == DType::f16; }) ||
         std::any_of(nest.results.begin(), nest.results.end(),
                     [](const NestResult& r) { return r.dtype == DType::f16; });
}

}  // namespace

struct HostKernelCompiler::Impl {
  struct Entry {
    LoopNest nest;
    Schedule schedule;
    std::string symbol;
  };

  TargetSpec target;
  std::vector<Entry> entries;
  std::unordered_map<std::string, std::uint32_t> by_structure;

  explicit Impl(TargetSpec spec) : target(std::move(spec)) {}

  std::uint32_t find_or_add(LoopNest nest, Schedule schedule) {
    std::string key = serialize(nest);
    std::string symbol = "dtj_kernel_" + to_hex(hash64(key));
    const auto [at, is_new] = by_structure.emplace(std::move(key), gsl::narrow<std::uint32_t>(entries.size()));
    if (is_new) entries.push_back({std::move(nest), std::move(schedule), std::move(symbol)});
    return at->second;
  }

  /// Kernels in parts of about equal work, heaviest first.
  std::vector<std::vector<std::uint32_t>> partition(std::size_t num_parts) const {
    std::vector<std::uint32_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0);
    const auto cost = [&](std::uint32_t i) {
      return 20 + entries[i].nest.exprs.size() + static_cast<std::size_t>(entries[i].schedule.weight_per_element);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return cost(a) > cost(b); });
    std::vector<std::vector<std::uint32_t>> parts(num_parts);
    std::vector<std::size_t> load(num_parts, 0);
    for (const std::uint32_t i : order) {
      const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
      parts[lightest].push_back(i);
      load[lightest] += cost(i);
    }
    return parts;
  }

  Result<std::string> compile(const std::vector<std::uint32_t>& part) const {
    DTJ_TRY_ASSIGN(const auto machine, make_target_machine(target));
    llvm::LLVMContext context;
    llvm::Module module("kernels", context);
    module.setTargetTriple(target.triple);
    module.setDataLayout(machine->createDataLayout());
    for (const std::uint32_t i : part)
      emit_kernel(module, entries[i].nest, entries[i].schedule, target, entries[i].symbol);
    return compile_module(module, *machine);
  }
};

HostKernelCompiler::HostKernelCompiler() : impl_(std::make_unique<Impl>(host_target())) {}
HostKernelCompiler::HostKernelCompiler(const std::string& cpu) {
  auto target = named_target(cpu);
  Expects(target.has_value());
  impl_ = std::make_unique<Impl>(std::move(*target));
}
HostKernelCompiler::~HostKernelCompiler() = default;

Result<KernelUse> HostKernelCompiler::add(const ir::Node& fused, const ir::Graph& graph) {
  Expects(fused.op == ir::Op::fused && fused.region);
  for (const ir::ValueId operand : fused.operands) Expects(operand.value < graph.num_values());
  auto nest = build_loop_nest(*fused.region);
  if (!nest) return fail_with(nest.error(), "kernel");
  Schedule schedule = make_schedule(*nest);
  if (nest->kind == NestKind::column && schedule.num_passes > 1)
    return fail(ErrorCode::unimplemented, "reduce_sum: a column reduction depends on another one");
  if (!impl_->target.has_f16 && uses_f16(*nest))
    return fail(ErrorCode::unimplemented, fmt::format("cast: the CPU {} has no f16", impl_->target.cpu));
  const WorkSplit split = split_work(*nest, schedule, impl_->target);
  KernelUse use;
  use.extent = split.extent;
  use.work_items = split.work_items;
  use.grain = split.grain;
  use.kernel.value = impl_->find_or_add(std::move(*nest), std::move(schedule));
  return use;
}

Result<HostKernelCompiler::Output> HostKernelCompiler::finish(int num_threads) {
  Expects(num_threads >= 1);
  Output output;
  output.target = impl_->target.to_string();
  const std::size_t num_parts = std::min(static_cast<std::size_t>(num_threads), impl_->entries.size());
  const auto parts = impl_->partition(std::max<std::size_t>(num_parts, 1));
  std::vector<Result<std::string>> objects(parts.size(), std::string());
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < parts.size(); ++i)
    workers.emplace_back([this, &parts, &objects, i] { objects[i] = impl_->compile(parts[i]); });
  if (!parts[0].empty()) objects[0] = impl_->compile(parts[0]);
  for (std::thread& worker : workers) worker.join();
  output.kernels.resize(impl_->entries.size());
  if (impl_->entries.empty()) return output;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!objects[i]) return fail_with(objects[i].error(), "while compiling kernels");
    for (const std::uint32_t entry : parts[i])
      output.kernels[entry] = {impl_->entries[entry].symbol, gsl::narrow<std::uint32_t>(output.objects.size())};
    output.objects.push_back(std::move(*objects[i]));
  }
  return output;
}

bool can_run_in_place(const ir::Node& fused, std::size_t operand, std::size_t result) {
  Expects(fused.region && operand < fused.operands.size() && result < fused.results.size());
  const auto nest = build_loop_nest(*fused.region);
  if (!nest) return false;
  return can_share_memory(*nest, make_schedule(*nest), gsl::narrow<std::uint32_t>(operand),
                          gsl::narrow<std::uint32_t>(result));
}

}  // namespace dtj::codegen
