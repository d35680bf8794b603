#include "compiler/codegen/host/target.hpp"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <algorithm>
#include <mutex>

namespace dtj::codegen {
namespace {

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool has_feature(const std::string& features, const std::string& name) {
  const std::vector<std::string> all = split(features, ',');
  return std::find(all.begin(), all.end(), "+" + name) != all.end();
}

TargetSpec finish_spec(std::string cpu, std::string features) {
  TargetSpec spec;
  spec.triple = llvm::sys::getProcessTriple();
  spec.cpu = std::move(cpu);
  spec.features = std::move(features);
  spec.has_fma = has_feature(spec.features, "fma");
  spec.has_f16 = has_feature(spec.features, "f16c");
  spec.vector_bits = has_feature(spec.features, "avx512f") ? 512 : has_feature(spec.features, "avx2") ? 256 : 128;
  return spec;
}

/// Sorted, only what is present: two runs on one machine give the same text.
std::string host_features() {
  std::vector<std::string> names;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    if (feature.second) names.push_back("+" + feature.first().str());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ","));
}

Result<const llvm::Target*> find_target(const std::string& triple) {
  initialise_llvm();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (target == nullptr) return fail(ErrorCode::internal, "no code generator for " + triple + ": " + message);
  return target;
}

}  // namespace

std::string TargetSpec::to_string() const {
  return fmt::format("{};{};{}", triple, cpu, features);
}

TargetSpec host_target() {
  return finish_spec(llvm::sys::getHostCPUName().str(), host_features());
}

Result<TargetSpec> named_target(const std::string& cpu) {
  const std::string triple = llvm::sys::getProcessTriple();
  DTJ_TRY_ASSIGN(const llvm::Target* target, find_target(triple));
  const std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, cpu, ""));
  if (!info || !info->isCPUStringValid(cpu)) return fail(ErrorCode::invalid_argument, "no CPU is named " + cpu);
  std::vector<std::string> names;
  for (const auto& feature : info->getEnabledProcessorFeatures()) names.push_back("+" + std::string(feature.Key));
  std::sort(names.begin(), names.end());
  return finish_spec(cpu, fmt::format("{}", fmt::join(names, ",")));
}

Status check_runs_here(const std::string& target) {
  const TargetSpec host = host_target();
  if (target == host.to_string()) return {};
  const std::vector<std::string> parts = split(target, ';');
  if (parts.size() != 3) return fail(ErrorCode::unimplemented, "the plan names no CPU: \"" + target + "\"");
  if (parts[0] != host.triple)
    return fail(ErrorCode::unimplemented, fmt::format("the plan is for {}, this machine is {}", parts[0], host.triple));
  // A named CPU lists tuning hints beside instruction sets; only instruction sets that the host knows by name can be
  // compared.
  const llvm::StringMap<bool> here = llvm::sys::getHostCPUFeatures();
  for (const std::string& feature : split(parts[2], ',')) {
    if (feature.size() < 2 || feature[0] != '+') continue;
    const auto known = here.find(feature.substr(1));
    if (known != here.end() && !known->second)
      return fail(ErrorCode::unimplemented, fmt::format("the plan is for {} and needs {}, which this CPU ({}) lacks",
                                                        parts[1], feature.substr(1), host.cpu));
  }
  return {};
}

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const TargetSpec& spec) {
  DTJ_TRY_ASSIGN(const llvm::Target* target, find_target(spec.triple));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(spec.triple, spec.cpu, spec.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
  if (!machine) return fail(ErrorCode::internal, "no target machine for " + spec.to_string());
  return machine;
}

Result<std::string> compile_module(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  if (llvm::verifyModule(module, &problem_stream))
    return fail(ErrorCode::internal, "a kernel is broken: " + problem_stream.str());

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  // Vectors, hoisting and unrolling are in the code already: what is left is to lift the loop variables into registers.
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (machine.addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return fail(ErrorCode::internal, "the code generator cannot write object files");
  emit.run(module);
  return std::string(object.data(), object.size());
}

}  // namespace dtj::codegen
