#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/shared_buffers.hpp"
#include "compiler/ir/graph.hpp"

// Graphs as they look after fusion, built by hand.

namespace dtj::test {

/// Of every value.
inline const ir::Type square{DType::f32, {4, 4}};

enum class Region { flat, transposing, row };

/// Result i is the sum of all operands plus i. `transposing` reads its first operand in another order, `row` adds the
/// sum of every row of its first operand.
inline std::vector<ir::ValueId> add_fused(ir::Graph& graph, const std::vector<ir::ValueId>& operands, int num_results,
                                          Region kind = Region::flat) {
  auto region = std::make_shared<ir::Graph>();
  ir::Builder builder(*region);
  std::vector<ir::ValueId> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i)
    inputs.push_back(
        region->add_input(square, ir::Port::plain, static_cast<std::uint32_t>(i), "x" + std::to_string(i)));
  auto sum = inputs[0];
  if (kind == Region::transposing) sum = builder.transpose(sum, {1, 0});
  if (kind == Region::row) sum = builder.broadcast(builder.reduce(ir::Op::reduce_sum, sum, {1}), square.shape);
  for (std::size_t i = 1; i < inputs.size(); ++i) sum = builder.binary(ir::Op::add, sum, inputs[i]);
  std::vector<ir::Type> types;
  for (int i = 0; i < num_results; ++i) {
    const auto result = builder.binary(ir::Op::add, sum, builder.constant(square, i));
    region->add_output(result, ir::Port::plain, static_cast<std::uint32_t>(i), "y" + std::to_string(i));
    types.push_back(square);
  }
  ir::Attrs attrs;
  attrs.text = kind == Region::row ? "row" : "elementwise";
  const auto node = graph.add_node(ir::Op::fused, operands, types, attrs, {}, region);
  return graph.node(node).results;
}

inline codegen::PlanInput::Tensor square_tensor(const std::string& name) {
  return {name, square, {}};
}

}  // namespace dtj::test
