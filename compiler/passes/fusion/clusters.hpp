#pragma once

#include <vector>

#include "compiler/passes/fusion/analysis.hpp"

namespace dtj::passes::fusion_detail {

enum class ClusterKind : std::uint8_t { elementwise, row, column };

/// Nodes that become one region.
struct Cluster {
  ClusterKind kind = ClusterKind::elementwise;
  std::vector<std::int64_t> dims;  ///< of the iteration, those wider than 1
  std::vector<bool> reduced;
  std::vector<NodeIndex> nodes;  ///< ascending; empty when merged into another

  std::vector<std::int64_t> kept_dims() const;
  std::int64_t size() const;
  std::int64_t num_rows() const;
};

/// Who belongs where: a unit is a cluster, or a node that is not fusible.
struct Clusters {
  std::vector<Cluster> clusters;
  std::vector<std::uint32_t> of_node;  ///< by node with a place: position in `clusters`; other nodes: no_cluster

  static constexpr std::uint32_t no_cluster = 0xffffffff;
};

Clusters form_clusters(const Analysis& analysis);

}  // namespace dtj::passes::fusion_detail
