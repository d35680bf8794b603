#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtj::passes::fusion_detail {

/// `fold` of x in terms of ops that regions hold: every element gathers its copies from the windows, always in the same
/// order, so no two threads write one element. `quadruples`: axis, size, stride, extent, as in ops.def.
ir::ValueId expand_fold(ir::Builder& build, ir::ValueId x, const std::vector<std::int64_t>& quadruples);

}  // namespace dtj::passes::fusion_detail
