#pragma once

#include <optional>

#include "compiler/check/check.hpp"
#include "compiler/ir/graph.hpp"

namespace dtj::lower {

/// The job as IR, before any pass. Inputs and outputs carry the ports of the trace.
struct LoweredJob {
  ir::Graph objective;
  std::optional<ir::Graph> eval_objective;
  ir::Graph update;
};

/// Cannot fail: the checker has proved the trace (our own bug otherwise).
LoweredJob lower(const check::CheckedJob& job);

/// One trace.
ir::Graph lower(const check::Trace& trace, const check::CheckedJob& job);

}  // namespace dtj::lower
