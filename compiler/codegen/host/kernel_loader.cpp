#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

#include <cmath>
#include <cstring>
#include <mutex>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/codegen/host/target.hpp"

namespace dtj::codegen {
namespace {

tl::unexpected<Error> fail_from(ErrorCode code, const std::string& what, llvm::Error error) {
  return fail(code, fmt::format("{}: {}", what, llvm::toString(std::move(error))));
}

using Unary = double (*)(double);
using UnaryF32 = float (*)(float);

/// All that a kernel may call: the C library by name, from this process, whatever it exports.
llvm::orc::SymbolMap process_symbols(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  const auto add = [&](const char* name, auto function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  };
  add("exp", static_cast<Unary>(&std::exp));
  add("log", static_cast<Unary>(&std::log));
  add("tanh", static_cast<Unary>(&std::tanh));
  add("erf", static_cast<Unary>(&std::erf));
  add("sin", static_cast<Unary>(&std::sin));
  add("cos", static_cast<Unary>(&std::cos));
  add("floor", static_cast<Unary>(&std::floor));
  add("floorf", static_cast<UnaryF32>(&std::floor));
  add("pow", static_cast<double (*)(double, double)>(&std::pow));
  add("memset", &std::memset);
  add("memcpy", &std::memcpy);
  add("memmove", &std::memmove);
  return symbols;
}

class HostKernelLoader final : public device::KernelLoader {
 public:
  explicit HostKernelLoader(std::unique_ptr<llvm::orc::LLJIT> jit) : jit_(std::move(jit)) {}

  Result<std::vector<device::KernelFn>> load(const plan::ExecutionPlan& plan) override {
    if (plan.kernels.empty()) return std::vector<device::KernelFn>{};
    DTJ_TRY(check_runs_here(plan.target));
    // A library per plan: two plans may hold kernels of one name.
    auto library = jit_->createJITDylib(fmt::format("plan{}", num_plans_++));
    if (!library) return fail_from(ErrorCode::internal, "cannot make room for kernels", library.takeError());
    if (auto error = library->define(llvm::orc::absoluteSymbols(process_symbols(*jit_))))
      return fail_from(ErrorCode::internal, "cannot offer the C library", std::move(error));
    for (std::size_t i = 0; i < plan.objects.size(); ++i) {
      const std::string& bytes = plan.objects[i];
      auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(bytes.data(), bytes.size()),
                                                         fmt::format("object {}", i));
      if (auto error = jit_->addObjectFile(*library, std::move(buffer)))
        return fail_from(ErrorCode::data_loss, fmt::format("object {} of the plan", i), std::move(error));
    }
    return find_functions(plan, *library);
  }

 private:
  Result<std::vector<device::KernelFn>> find_functions(const plan::ExecutionPlan& plan, llvm::orc::JITDylib& library) {
    std::vector<device::KernelFn> functions;
    for (const plan::Kernel& kernel : plan.kernels) {
      auto address = jit_->lookup(library, kernel.symbol);
      if (!address) return fail_from(ErrorCode::data_loss, "kernel " + kernel.symbol, address.takeError());
      functions.push_back(address->toPtr<device::KernelFn>());
    }
    return functions;
  }

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  int num_plans_ = 0;
};

}  // namespace

Result<std::unique_ptr<device::KernelLoader>> make_host_kernel_loader() {
  DTJ_TRY(make_target_machine(host_target()).map([](const auto&) {}));
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return fail_from(ErrorCode::internal, "cannot start the JIT", jit.takeError());
  return std::make_unique<HostKernelLoader>(std::move(*jit));
}

}  // namespace dtj::codegen
