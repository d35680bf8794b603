#include "compiler/passes/graph_copy.hpp"
#include "compiler/passes/passes.hpp"

// After autodiff nothing asks for stop_gradient any more: its uses read its operand.

namespace dtj::passes {

bool strip_stop_gradient(ir::Graph& graph, const PassContext&) {
  bool changed = false;
  GraphCopy copy(graph);
  for (const ir::Node& node : graph.nodes()) {
    if (node.op == ir::Op::stop_gradient) {
      copy.set(node.results[0], copy.at(node.operands[0]));
      changed = true;
    } else {
      copy.copy_node(node);
    }
  }
  if (!changed) return false;
  copy.copy_outputs();
  graph = std::move(copy.graph());
  return true;
}

}  // namespace dtj::passes
