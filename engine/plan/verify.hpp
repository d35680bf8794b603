#pragma once

#include "engine/base/result.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::plan {

/// Whether an executor may obey the plan: every id is in range, buffers lie inside their arenas, operands fit their
/// buffers, collectives are paired, ports match the job. A plan that passes touches no memory outside its arenas,
/// apart from what its kernels do. Errors: invalid_argument, naming the first fault.
Status verify(const ExecutionPlan& plan);

/// The job alone: positive sizes, world size = product of the mesh, batches that divide.
Status verify_job(const JobSpec& job);

}  // namespace dtj::plan
