#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "engine/base/result.hpp"

namespace dtj::codegen {

/// The CPU that kernels are compiled for.
struct TargetSpec {
  std::string triple;
  std::string cpu;
  std::string features;  ///< "+avx2,+fma,..."
  int vector_bits = 128;
  bool has_fma = false;
  bool has_f16 = false;  ///< conversions between f16 and f32

  /// "triple;cpu;features", for ExecutionPlan::target.
  std::string to_string() const;
};

/// Of the CPU that runs this code.
TargetSpec host_target();
/// Of a named CPU ("x86-64", "znver3", "sapphirerapids", ...). Errors: invalid_argument.
Result<TargetSpec> named_target(const std::string& cpu);
/// Ok if code for `target` (TargetSpec::to_string) runs on this CPU. Errors: unimplemented (says what is missing).
Status check_runs_here(const std::string& target);

/// Errors: internal.
Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const TargetSpec& spec);
/// Optimises the module and returns its object file. Errors: internal.
Result<std::string> compile_module(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace dtj::codegen
