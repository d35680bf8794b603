#include "compiler/passes/fusion/prepare.hpp"

#include <algorithm>
#include <gsl/gsl>

#include "compiler/passes/fusion/expand_fold.hpp"
#include "compiler/passes/graph_copy.hpp"

namespace dtj::passes::fusion_detail {
namespace {

using Axes = std::vector<std::int64_t>;

constexpr std::int64_t min_two_step_elements = 32768;
constexpr std::int64_t few_rows = 16;

std::int64_t extent(const Shape& shape, std::int64_t axis) {
  return shape[gsl::narrow<std::size_t>(axis)];
}

/// Groups of axes wider than 1 with no kept dim wider than 1 between them, outer to inner.
std::vector<Axes> adjacent_groups(const Shape& shape, const Axes& axes) {
  std::vector<Axes> groups;
  bool joins = false;
  for (std::int64_t axis = 0; axis < gsl::narrow<std::int64_t>(shape.size()); ++axis) {
    if (extent(shape, axis) == 1) continue;
    const bool is_reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (is_reduced && !joins) groups.emplace_back();
    if (is_reduced) groups.back().push_back(axis);
    joins = is_reduced;
  }
  return groups;
}

/// Steps, in the order in which they run: the innermost group first.
std::vector<Axes> reduction_steps(const Shape& shape, const Axes& axes) {
  std::vector<Axes> steps = adjacent_groups(shape, axes);
  std::reverse(steps.begin(), steps.end());
  if (steps.size() != 1 || steps[0].size() < 2) return steps;
  std::int64_t reduced = 1;
  for (const std::int64_t axis : steps[0]) reduced *= extent(shape, axis);
  if (reduced < min_two_step_elements || num_elements(shape) / reduced >= few_rows) return steps;
  const Axes last{steps[0].back()};
  steps[0].pop_back();
  return {last, steps[0]};
}

}  // namespace

ir::Graph prepare(const ir::Graph& graph) {
  GraphCopy copy(graph);
  for (const ir::Node& node : graph.nodes()) {
    ir::Builder build(copy.graph());
    build.at(node.range);
    if (node.op == ir::Op::fold) {
      copy.set(node.results[0], expand_fold(build, copy.at(node.operands[0]), node.attrs.ints));
      continue;
    }
    if (ir::category(node.op) != ir::OpCategory::reduce) {
      copy.copy_node(node);
      continue;
    }
    ir::ValueId x = copy.at(node.operands[0]);
    const DType dtype = build.type(x).dtype;
    const std::vector<Axes> steps = reduction_steps(build.type(x).shape, node.attrs.ints);
    // Partial sums keep the precision of the accumulator.
    if (steps.size() > 1 && (dtype == DType::bf16 || dtype == DType::f16)) x = build.cast(x, DType::f32);
    for (const Axes& axes : steps) x = build.reduce(node.op, x, axes);
    copy.set(node.results[0], build.cast(x, dtype));
  }
  copy.copy_outputs();
  return std::move(copy.graph());
}

}  // namespace dtj::passes::fusion_detail
