#include <algorithm>
#include <gsl/gsl>
#include <unordered_map>

#include "compiler/passes/fusion/analysis.hpp"
#include "compiler/passes/fusion/clusters.hpp"
#include "compiler/passes/fusion/prepare.hpp"
#include "compiler/passes/fusion/recompute.hpp"
#include "compiler/passes/graph_copy.hpp"
#include "compiler/passes/passes.hpp"

namespace dtj::passes {
namespace {

using namespace fusion_detail;

/// A region and what it reads and makes, as values of the graph around it.
struct Region {
  std::shared_ptr<ir::Graph> graph;
  std::vector<ir::ValueId> inputs;
  std::vector<ir::ValueId> outputs;
  source::Range range;
};

std::string_view kind_name(ClusterKind kind) {
  switch (kind) {
    case ClusterKind::elementwise:
      return "elementwise";
    case ClusterKind::row:
      return "row";
    case ClusterKind::column:
      return "column";
  }
  return "";
}

class Fuser {
 public:
  explicit Fuser(const ir::Graph& graph)
      : graph_(graph),
        a_(analyse(graph)),
        c_(form_clusters(a_)),
        t_(plan_traffic(a_, c_)),
        copy_(graph),
        is_done_(graph.nodes().size()) {}

  ir::Graph run() {
    for (NodeIndex i = 0; i < is_done_.size(); ++i) {
      if (c_.of_node[i] == Clusters::no_cluster) {
        if (a_.has_place(i)) emit_node(i);
      } else if (c_.clusters[c_.of_node[i]].nodes.back() == i) {
        emit_cluster(c_.of_node[i]);
      }
    }
    copy_.copy_outputs();
    return std::move(copy_.graph());
  }

 private:
  void emit_producer(ir::ValueId value) {
    const auto p = a_.producer(value);
    if (!p) return;
    if (c_.of_node[*p] == Clusters::no_cluster) return emit_node(*p);
    emit_cluster(c_.of_node[*p]);
  }

  void emit_node(NodeIndex i) {
    if (is_done_[i]) return;
    is_done_[i] = true;
    for (const ir::ValueId operand : a_.node(i).operands) emit_producer(operand);
    copy_.copy_node(a_.node(i));
  }

  void emit_cluster(std::uint32_t cluster) {
    const NodeIndex first = c_.clusters[cluster].nodes.front();
    if (is_done_[first]) return;
    is_done_[first] = true;
    Region region = build_region(cluster);
    if (region.outputs.empty()) return;
    for (const ir::ValueId input : region.inputs) emit_producer(input);
    std::vector<ir::Type> types;
    for (const ir::ValueId output : region.outputs) types.push_back(graph_.type(output));
    ir::Attrs attrs;
    attrs.text = kind_name(c_.clusters[cluster].kind);
    const ir::NodeId id = copy_.graph().add_node(ir::Op::fused, copy_.at(region.inputs), std::move(types),
                                                 std::move(attrs), region.range, std::move(region.graph));
    for (std::size_t i = 0; i < region.outputs.size(); ++i)
      copy_.set(region.outputs[i], copy_.graph().node(id).results[i]);
  }

  /// The nodes that the stored results need, in the order of the graph.
  std::vector<NodeIndex> needed_nodes(std::uint32_t cluster) const {
    std::vector<bool> seen(a_.users.size());
    std::vector<NodeIndex> open, needed;
    for (const NodeIndex i : c_.clusters[cluster].nodes)
      if (t_.is_stored[i]) open.push_back(i);
    while (!open.empty()) {
      const NodeIndex i = open.back();
      open.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      needed.push_back(i);
      for (const ir::ValueId operand : a_.node(i).operands)
        if (const auto p = a_.producer(operand); p && is_inside(a_, c_, t_, cluster, *p)) open.push_back(*p);
    }
    std::sort(needed.begin(), needed.end());
    return needed;
  }

  Region build_region(std::uint32_t cluster) const {
    Region region;
    region.graph = std::make_shared<ir::Graph>();
    std::unordered_map<ir::ValueId, ir::ValueId> now;
    const std::vector<NodeIndex> nodes = needed_nodes(cluster);
    // Inputs first: a graph's inputs come before its nodes.
    for (const NodeIndex i : nodes)
      for (const ir::ValueId operand : a_.node(i).operands) {
        const auto p = a_.producer(operand);
        if ((p && is_inside(a_, c_, t_, cluster, *p)) || now.count(operand) != 0) continue;
        const auto number = gsl::narrow<std::uint32_t>(region.inputs.size());
        now[operand] = region.graph->add_input(graph_.type(operand), ir::Port::plain, number, "");
        region.inputs.push_back(operand);
      }
    for (const NodeIndex i : nodes) {
      const ir::Node& node = a_.node(i);
      std::vector<ir::ValueId> operands;
      for (const ir::ValueId operand : node.operands) operands.push_back(now.at(operand));
      const ir::NodeId id =
          region.graph->add_node(node.op, std::move(operands), {graph_.type(node.results[0])}, node.attrs, node.range);
      now[node.results[0]] = region.graph->node(id).results[0];
      if (region.range.is_none) region.range = node.range;
    }
    for (const NodeIndex i : c_.clusters[cluster].nodes) {
      if (!t_.is_stored[i]) continue;
      const ir::ValueId value = a_.node(i).results[0];
      const auto number = gsl::narrow<std::uint32_t>(region.outputs.size());
      region.graph->add_output(now.at(value), ir::Port::plain, number, "");
      region.outputs.push_back(value);
    }
    return region;
  }

  const ir::Graph& graph_;
  const Analysis a_;
  const Clusters c_;
  const Traffic t_;
  GraphCopy copy_;
  std::vector<bool> is_done_;
};

}  // namespace

bool fusion(ir::Graph& graph, const PassContext&) {
  const bool has_work = std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const ir::Node& node) {
    switch (ir::category(node.op)) {
      case ir::OpCategory::leaf:
      case ir::OpCategory::elementwise:
      case ir::OpCategory::reduce:
        return true;
      case ir::OpCategory::movement:
        return node.op != ir::Op::reshape;
      case ir::OpCategory::indexing:
        return node.op == ir::Op::fold;
      case ir::OpCategory::contraction:
      case ir::OpCategory::collective:
      case ir::OpCategory::fused:
        return false;
    }
    return false;
  });
  if (!has_work) return false;
  const ir::Graph prepared = prepare(graph);
  graph = Fuser(prepared).run();
  return true;
}

}  // namespace dtj::passes
