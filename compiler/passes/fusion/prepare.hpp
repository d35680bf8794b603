#pragma once

#include "compiler/ir/graph.hpp"

namespace dtj::passes::fusion_detail {

/// The graph with reductions that regions can hold: each over one group of adjacent dims wider than 1, and reductions
/// of a large tensor to very few numbers in two steps, so that there are rows to share out. Every fold is taken apart.
ir::Graph prepare(const ir::Graph& graph);

}  // namespace dtj::passes::fusion_detail
