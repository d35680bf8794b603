#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "dtj/dtj.hpp"

namespace dtj {

/// Behind the public Compilation.
struct Compilation::Impl {
  Compiled compiled;
  bool reached = false;  ///< the wanted stage, without errors
  std::vector<DiagnosticInfo> diagnostics;
  std::vector<diag::Diagnostic> sorted;
  /// A failure that is no mistake in the job: an unknown pass name, a bug of ours.
  std::optional<Error> failure;

  /// Why a job without mistakes must not run: placeholders without a value, settings that are not carried out.
  std::optional<std::string> obstacle() const;
  const std::optional<plan::ExecutionPlan>& plan() const { return compiled.plan; }
};

}  // namespace dtj
