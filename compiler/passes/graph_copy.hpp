#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtj::passes {

/// A new graph grown from an old one, node by node; graphs only grow, so a pass that replaces anything copies.
/// The inputs come first.
class GraphCopy {
 public:
  /// Copies the name and the inputs.
  explicit GraphCopy(const ir::Graph& from);

  ir::Graph& graph() { return graph_; }
  /// The new value that stands for an old one, which must have been copied or set.
  ir::ValueId at(ir::ValueId old) const;
  std::vector<ir::ValueId> at(const std::vector<ir::ValueId>& old) const;
  void set(ir::ValueId old, ir::ValueId now) { now_[old.value] = now; }
  void copy_node(const ir::Node& node);
  void copy_outputs();

 private:
  const ir::Graph& from_;
  ir::Graph graph_;
  std::vector<std::optional<ir::ValueId>> now_;
};

/// Position of the node that makes `value`; -1 for an input.
std::int64_t producer_position(const ir::Graph& graph, ir::ValueId value);

}  // namespace dtj::passes
