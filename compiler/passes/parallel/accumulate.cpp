#include <map>

#include "compiler/passes/graph_copy.hpp"
#include "compiler/passes/passes.hpp"

// Gradient accumulation: a micro batch after the first adds to what the earlier ones left.
// Each sum stands right behind its summand, so that a bucket is complete as early as before.

namespace dtj::passes {

bool accumulate(ir::Graph& graph, const PassContext& ctx) {
  if (!ctx.accumulate_into) return false;
  GraphCopy copy(graph);
  ir::Builder build(copy.graph());
  std::multimap<std::int64_t, std::size_t> outputs_at;  // position of the producer -> output
  std::vector<std::optional<ir::ValueId>> so_far(graph.outputs().size()), sums(graph.outputs().size());
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const ir::Output& output = graph.outputs()[i];
    if (output.port != ir::Port::gradient && output.port != ir::Port::metric) continue;
    so_far[i] = copy.graph().add_input(graph.type(output.value), output.port, output.index, output.name);
    outputs_at.emplace(producer_position(graph, output.value), i);
  }
  const auto add_sums = [&](std::int64_t position) {
    const auto [first, last] = outputs_at.equal_range(position);
    for (auto at = first; at != last; ++at)
      sums[at->second] = build.binary(ir::Op::add, *so_far[at->second], copy.at(graph.outputs()[at->second].value));
  };
  add_sums(-1);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    copy.copy_node(graph.nodes()[i]);
    build.at(graph.nodes()[i].range);
    add_sums(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const ir::Output& output = graph.outputs()[i];
    copy.graph().add_output(sums[i] ? *sums[i] : copy.at(output.value), output.port, output.index, output.name);
  }
  graph = std::move(copy.graph());
  return !outputs_at.empty();
}

}  // namespace dtj::passes
