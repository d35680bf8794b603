#include <fmt/format.h>

#include <set>
#include <utility>

#include "compiler/ir/graph.hpp"
#include "compiler/ir/text.hpp"

namespace dtj::ir {
namespace {

tl::unexpected<Error> wrong(std::size_t index, const Node& node, const std::string& message) {
  return fail(ErrorCode::invalid_argument, fmt::format("node {} ({}): {}", index, to_string(node.op), message));
}

std::vector<Type> types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<Type> types;
  for (const ValueId value : values) types.push_back(graph.type(value));
  return types;
}

Status verify_region(const Graph& graph, std::size_t index, const Node& node) {
  if (node.op != Op::fused) {
    if (node.region) return wrong(index, node, "only a fused node has a region");
    return {};
  }
  if (!node.region) return wrong(index, node, "has no region");
  const Graph& region = *node.region;
  if (auto status = verify(region); !status) return fail_with(status.error(), fmt::format("region of node {}", index));
  std::vector<ValueId> inputs, outputs;
  for (const Input& input : region.inputs()) inputs.push_back(input.value);
  for (const Output& output : region.outputs()) outputs.push_back(output.value);
  if (types_of(region, inputs) != types_of(graph, node.operands))
    return wrong(index, node, "the inputs of its region are not its operands");
  if (types_of(region, outputs) != types_of(graph, node.results))
    return wrong(index, node, "the outputs of its region are not its results");
  return {};
}

Status verify_order(const Graph& graph, std::size_t index, const Node& node) {
  for (const ValueId operand : node.operands) {
    if (operand.value >= graph.num_values())
      return wrong(index, node, fmt::format("operand {} does not exist", operand.value));
    const std::optional<NodeId> producer = graph.value(operand).producer;
    if (producer && producer->value >= index) return wrong(index, node, "an operand is made later");
  }
  return {};
}

Status verify_node(const Graph& graph, std::size_t index, const Node& node) {
  DTJ_TRY(verify_order(graph, index, node));
  const std::vector<Type> declared = types_of(graph, node.results);
  const auto inferred = infer(node.op, types_of(graph, node.operands), node.attrs, declared);
  if (!inferred) return fail_with(inferred.error(), fmt::format("node {}", index));
  if (inferred->size() != declared.size())
    return wrong(index, node, fmt::format("has {} results, gives {}", declared.size(), inferred->size()));
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (declared[i] != (*inferred)[i])
      return wrong(index, node,
                   fmt::format("result is declared {}, is {}", to_string(declared[i]), to_string((*inferred)[i])));
  return verify_region(graph, index, node);
}

/// A program's port and index name one input (or output); the plain ports of regions are told apart by position.
template <class Ports>
Status verify_ports(const Graph& graph, const Ports& ports, std::string_view what) {
  std::set<std::pair<Port, std::uint32_t>> seen;
  for (const auto& entry : ports) {
    if (entry.value.value >= graph.num_values())
      return fail(ErrorCode::invalid_argument, fmt::format("{} `{}` has no value", what, entry.name));
    if (entry.port != Port::plain && !seen.insert({entry.port, entry.index}).second)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("two {}s are ({}, {})", what, to_string(entry.port), entry.index));
  }
  return {};
}

}  // namespace

Status verify(const Graph& graph) {
  DTJ_TRY(verify_ports(graph, graph.inputs(), "input"));
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) DTJ_TRY(verify_node(graph, i, graph.nodes()[i]));
  return verify_ports(graph, graph.outputs(), "output");
}

}  // namespace dtj::ir
