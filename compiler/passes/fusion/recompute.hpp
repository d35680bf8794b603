#pragma once

#include <unordered_set>
#include <vector>

#include "compiler/passes/fusion/clusters.hpp"

namespace dtj::passes::fusion_detail {

/// What goes through memory between regions, and what is computed again instead.
struct Traffic {
  std::vector<bool> is_stored;                            ///< by node: its result is a result of its region
  std::vector<std::unordered_set<NodeIndex>> recomputed;  ///< by cluster: nodes of other clusters that it copies
};

/// A value that other regions read is computed again there when that is cheap: a few ops from one tensor that is in
/// memory anyway (or one that the region reads already), and small statistics.
Traffic plan_traffic(const Analysis& analysis, const Clusters& clusters);

/// True if `cluster` holds the node itself: as a member, as an inline node or as a copy.
bool is_inside(const Analysis& analysis, const Clusters& clusters, const Traffic& traffic, std::uint32_t cluster,
               NodeIndex i);

}  // namespace dtj::passes::fusion_detail
