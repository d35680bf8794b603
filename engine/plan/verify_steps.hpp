#pragma once

#include "engine/base/result.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::plan {

/// The steps of one program, against buffers, kernels and collectives that are already verified.
/// Errors: invalid_argument, with program, step and source line.
Status verify_program(const ExecutionPlan& plan, const Program& program);

}  // namespace dtj::plan
