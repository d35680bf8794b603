#pragma once

#include <string>

#include "engine/plan/plan.hpp"

namespace dtj::plan {

/// What a reader wants before a launch: ranks, parameters, bytes per rank, collectives, arena peaks, steps.
std::string summary_text(const ExecutionPlan& plan);
/// The same as a JSON object.
std::string summary_json(const ExecutionPlan& plan);
/// Every step of every program, one per line. The plan must pass `verify`.
std::string listing(const ExecutionPlan& plan);

}  // namespace dtj::plan
