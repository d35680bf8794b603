#include "compiler/ir/graph.hpp"

#include <array>
#include <gsl/gsl>

namespace dtj::ir {
namespace {

struct OpInfo {
  std::string_view name;
  OpCategory category;
  int num_operands;
};

constexpr std::array op_table = {
#define DTJ_OP(name, category, num_operands) OpInfo{#name, OpCategory::category, num_operands},
#include "compiler/ir/ops.def"
#undef DTJ_OP
};

const OpInfo& info(Op op) {
  return op_table.at(static_cast<std::size_t>(op));
}

}  // namespace

std::string_view to_string(Op op) {
  return info(op).name;
}
OpCategory category(Op op) {
  return info(op).category;
}
int num_operands(Op op) {
  return info(op).num_operands;
}

std::optional<Op> parse_op(std::string_view name) {
  for (std::size_t i = 0; i < op_table.size(); ++i)
    if (op_table[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

ValueId Graph::add_input(Type type, Port port, std::uint32_t index, std::string name) {
  const ValueId value{gsl::narrow<std::uint32_t>(values_.size())};
  values_.push_back({std::move(type), std::nullopt});
  inputs_.push_back({value, port, index, std::move(name)});
  return value;
}

void Graph::add_output(ValueId value, Port port, std::uint32_t index, std::string name) {
  Expects(value.value < values_.size());
  outputs_.push_back({value, port, index, std::move(name)});
}

NodeId Graph::add_node(Op op, std::vector<ValueId> operands, std::vector<Type> results, Attrs attrs,
                       source::Range range, std::shared_ptr<const Graph> region) {
  for (const ValueId operand : operands) Expects(operand.value < values_.size());
  const NodeId id{gsl::narrow<std::uint32_t>(nodes_.size())};
  Node node;
  node.op = op;
  node.operands = std::move(operands);
  node.attrs = std::move(attrs);
  node.range = range;
  node.region = std::move(region);
  for (Type& type : results) {
    node.results.push_back(ValueId{gsl::narrow<std::uint32_t>(values_.size())});
    values_.push_back({std::move(type), id});
  }
  nodes_.push_back(std::move(node));
  return id;
}

}  // namespace dtj::ir
