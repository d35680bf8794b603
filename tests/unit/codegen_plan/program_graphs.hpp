#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/shared_buffers.hpp"
#include "compiler/ir/graph.hpp"

// Graphs as they look after fusion, built by hand.

namespace dtj::test {

enum class Region { flat, transposing, row };

/// Result i is the sum of all operands plus i. All operands and results are f32[n]; `transposing` reads its first operand
/// in another order (n must be a square).
inline std::vector<ir::ValueId> add_fused(ir::Graph& graph, const std::vector<ir::ValueId>& operands, int num_results,
                                          Region kind = Region::flat, std::int64_t n = 16) {
  auto region = std::make_shared<ir::Graph>();
  ir::Builder builder(*region);
  const ir::Type type{DType::f32, {n}};
  std::vector<ir::ValueId> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i)
    inputs.push_back(region->add_input(type, ir::Port::plain, static_cast<std::uint32_t>(i), "x" + std::to_string(i)));
  auto sum = inputs.empty() ? builder.constant(type, 1) : inputs[0];
  if (kind == Region::transposing) {
    std::int64_t side = 1;
    while (side * side < n) ++side;
    sum = builder.reshape(builder.transpose(builder.reshape(sum, {side, side}), {1, 0}), {n});
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) sum = builder.binary(ir::Op::add, sum, inputs[i]);
  std::vector<ir::Type> types;
  for (int i = 0; i < num_results; ++i) {
    const auto result = builder.binary(ir::Op::add, sum, builder.constant(type, i));
    region->add_output(result, ir::Port::plain, static_cast<std::uint32_t>(i), "y" + std::to_string(i));
    types.push_back(type);
  }
  ir::Attrs attrs;
  attrs.text = kind == Region::row ? "row" : "elementwise";
  const auto node = graph.add_node(ir::Op::fused, operands, types, attrs, {}, region);
  return graph.node(node).results;
}

inline codegen::PlanInput::Tensor vector_tensor(const std::string& name, std::int64_t n = 16) {
  return {name, {DType::f32, {n}}, {}};
}

}  // namespace dtj::test
