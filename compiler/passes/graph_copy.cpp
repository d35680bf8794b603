#include "compiler/passes/graph_copy.hpp"

#include <gsl/gsl>

namespace dtj::passes {

GraphCopy::GraphCopy(const ir::Graph& from) : from_(from), now_(from.num_values()) {
  graph_.name = from.name;
  for (const ir::Input& input : from.inputs())
    set(input.value, graph_.add_input(from.type(input.value), input.port, input.index, input.name));
}

ir::ValueId GraphCopy::at(ir::ValueId old) const {
  Expects(now_[old.value].has_value());
  return *now_[old.value];
}

std::vector<ir::ValueId> GraphCopy::at(const std::vector<ir::ValueId>& old) const {
  std::vector<ir::ValueId> now;
  for (const ir::ValueId value : old) now.push_back(at(value));
  return now;
}

void GraphCopy::copy_node(const ir::Node& node) {
  std::vector<ir::Type> types;
  for (const ir::ValueId result : node.results) types.push_back(from_.type(result));
  const ir::NodeId id =
      graph_.add_node(node.op, at(node.operands), std::move(types), node.attrs, node.range, node.region);
  for (std::size_t i = 0; i < node.results.size(); ++i) set(node.results[i], graph_.node(id).results[i]);
}

void GraphCopy::copy_outputs() {
  for (const ir::Output& output : from_.outputs())
    graph_.add_output(at(output.value), output.port, output.index, output.name);
}

std::int64_t producer_position(const ir::Graph& graph, ir::ValueId value) {
  const std::optional<ir::NodeId> producer = graph.value(value).producer;
  return producer ? static_cast<std::int64_t>(producer->value) : -1;
}

}  // namespace dtj::passes
