#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtj::passes::fusion_detail {

using NodeIndex = std::uint32_t;

/// How a use reads a value that is made elsewhere.
enum class PathKind : std::uint8_t {
  same,    ///< at its own index
  expand,  ///< broadcast along some dims
  other,   ///< through another movement: the value must be in memory
};

/// One non-inline node that a node reads, through inline nodes.
struct Source {
  NodeIndex producer = 0;
  PathKind kind = PathKind::same;
  std::vector<bool> expanded;  ///< per dim wider than 1 of the reader's operand
};

/// What each node of a graph is to fusion.
struct Analysis {
  const ir::Graph* graph = nullptr;
  std::vector<bool> fusible;                    ///< may stand in a region
  std::vector<bool> is_inline;                  ///< copied into every region that reads it
  std::vector<bool> in_memory;                  ///< its result is an output, or read by a node that is not fusible
  std::vector<std::vector<NodeIndex>> users;    ///< nodes that read the result directly
  std::vector<std::vector<Source>> sources;     ///< of nodes that have a place
  std::vector<std::vector<NodeIndex>> readers;  ///< the reverse of `sources`

  const ir::Node& node(NodeIndex i) const { return graph->nodes()[i]; }
  /// A node with a place of its own: a member of a cluster, or not fusible.
  bool has_place(NodeIndex i) const { return !is_inline[i] || in_memory[i]; }
  bool in_cluster(NodeIndex i) const { return fusible[i] && has_place(i) && node(i).op != ir::Op::reshape; }
  std::optional<NodeIndex> producer(ir::ValueId value) const;
};

Analysis analyse(const ir::Graph& graph);

/// Extents wider than 1.
std::vector<std::int64_t> wide_dims(const Shape& shape);
/// A reshape that only adds and drops dims of extent 1.
bool is_squeeze(const ir::Graph& graph, const ir::Node& node);
/// exp, tanh and the like: as costly as reading memory.
bool is_expensive(ir::Op op);
/// In vector instructions, about.
int op_weight(ir::Op op);

}  // namespace dtj::passes::fusion_detail
