#pragma once

#include <string>

#include "compiler/diagnostics/diagnostics.hpp"
#include "dtj/dtj.hpp"
#include "engine/base/log.hpp"
#include "engine/base/result.hpp"
#include "engine/run/trainer.hpp"

// Between the public types and the engine's.

namespace dtj::api {

DiagnosticSeverity severity_of(diag::Severity severity);

RunOutcome outcome_of(ErrorCode code);
RunResult run_result(const run::RunSummary& summary);
Logger logger(const RunCallbacks& callbacks);
/// `callbacks` must outlive the result.
run::TrainerCallbacks trainer_callbacks(const RunCallbacks& callbacks);

}  // namespace dtj::api
