#include <algorithm>
#include <gsl/gsl>

#include "compiler/passes/autodiff/vjp.hpp"
#include "compiler/passes/graph_copy.hpp"
#include "compiler/passes/passes.hpp"

// Reverse mode. The forward nodes stay as they are; the backward nodes follow in the opposite order, so that the
// gradients of late layers are complete first.

namespace dtj::passes {
namespace {

using ir::Op;
using ir::ValueId;

bool is_trained(const ir::Input& input, const PassContext& ctx) {
  return input.port == ir::Port::param && !(input.index < ctx.is_frozen.size() && ctx.is_frozen[input.index]);
}

class Differentiator {
 public:
  Differentiator(ir::Graph& graph, const PassContext& ctx)
      : graph_(graph),
        build_(graph),
        num_forward_(graph.nodes().size()),
        active_(graph.num_values(), false),
        first_use_(graph.num_values()),
        contributions_(graph.num_values()),
        sums_(graph.num_values()) {
    mark_active(ctx);
  }

  /// `seed` is the gradient of the loss.
  void run(ValueId loss, ValueId seed) {
    if (!active_[loss.value]) return;
    sums_[loss.value] = seed;
    for (std::size_t i = num_forward_; i-- > 0;) visit(i);
  }

  /// None: the loss does not depend on it.
  std::optional<ValueId> gradient(ValueId value) const { return sums_[value.value]; }

 private:
  /// Active values lie between a trained parameter and anything: only they have gradients.
  void mark_active(const PassContext& ctx) {
    for (const ir::Input& input : graph_.inputs()) active_[input.value.value] = is_trained(input, ctx);
    for (std::size_t i = 0; i < num_forward_; ++i) {
      const ir::Node& node = graph_.nodes()[i];
      for (const ValueId operand : node.operands)
        if (!first_use_[operand.value]) first_use_[operand.value] = i;
      Expects(node.op != Op::fused);  // fusion comes after
      if (!passes_gradient(node.op)) continue;
      const bool depends =
          std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId x) { return active_[x.value]; });
      for (const ValueId result : node.results) active_[result.value] = depends && is_float(graph_.type(result).dtype);
    }
  }

  void visit(std::size_t position) {
    const ir::Node node = graph_.nodes()[position];
    build_.at(node.range);
    VjpCall call{build_, node, {}, {}, std::vector<std::optional<ValueId>>(node.operands.size())};
    for (const ValueId result : node.results)
      call.gradients.push_back(active_[result.value] ? sums_[result.value] : std::nullopt);
    for (const ValueId operand : node.operands) call.needs.push_back(active_[operand.value]);
    const auto& given = call.gradients;
    if (std::any_of(given.begin(), given.end(), [](const auto& g) { return g.has_value(); })) vjp(call);
    // Backwards, so that the reverse of the arrival is the order of use.
    for (std::size_t i = node.operands.size(); i-- > 0;)
      if (call.contributions[i] && call.needs[i])
        contributions_[node.operands[i].value].push_back(
            build_.cast(*call.contributions[i], gradient_dtype(graph_, node.operands[i])));
    for (const ValueId operand : node.operands)
      if (first_use_[operand.value] == position) sum_up(operand);
  }

  /// All uses have been visited.
  void sum_up(ValueId value) {
    const std::vector<ValueId>& parts = contributions_[value.value];
    if (parts.empty() || sums_[value.value]) return;
    ValueId sum = parts.back();
    for (std::size_t i = parts.size() - 1; i-- > 0;) sum = build_.binary(Op::add, sum, parts[i]);
    sums_[value.value] = sum;
  }

  ir::Graph& graph_;
  ir::Builder build_;
  std::size_t num_forward_;
  std::vector<bool> active_;
  std::vector<std::optional<std::size_t>> first_use_;
  std::vector<std::vector<ValueId>> contributions_;  ///< of forward values, last use first
  std::vector<std::optional<ValueId>> sums_;
};

}  // namespace

bool autodiff(ir::Graph& graph, const PassContext& ctx) {
  GraphCopy copy(graph);
  for (const ir::Node& node : graph.nodes()) copy.copy_node(node);
  ir::Graph& out = copy.graph();
  ir::Builder build(out);

  std::optional<ValueId> loss, weight;
  for (const ir::Output& output : graph.outputs()) {
    if (output.port != ir::Port::metric) continue;
    if (output.index == 0) loss = copy.at(output.value);
    if (output.index == ctx.weight_metric) weight = copy.at(output.value);
  }
  const double share = 1.0 / static_cast<double>(ctx.gradient_accumulation * ctx.dp);
  const ValueId scale = weight ? *weight : build.constant({DType::f32, {}}, share);
  for (const ir::Output& output : graph.outputs()) {
    ValueId value = copy.at(output.value);
    if (output.port == ir::Port::metric && value != weight) {
      if (const auto producer = out.value(value).producer) build.at(out.node(*producer).range);
      value = build.binary(Op::mul, value, build.cast(scale, out.type(value).dtype));
    }
    out.add_output(value, output.port, output.index, output.name);
  }
  Expects(loss.has_value() && is_float(out.type(*loss).dtype) && out.type(*loss).shape.empty());

  Differentiator differentiator(out, ctx);
  differentiator.run(*loss, build.cast(scale, out.type(*loss).dtype));
  const std::vector<ir::Input> inputs = out.inputs();
  for (const ir::Input& input : inputs) {
    if (!is_trained(input, ctx)) continue;
    const auto gradient = differentiator.gradient(input.value);
    const ValueId value =
        gradient ? build.cast(*gradient, DType::f32) : build.constant({DType::f32, out.type(input.value).shape}, 0.0);
    out.add_output(value, ir::Port::gradient, input.index, input.name);
  }
  graph = std::move(out);
  return true;
}

}  // namespace dtj::passes
