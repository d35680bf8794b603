#include "compiler/passes/fusion/recompute.hpp"

#include <algorithm>

namespace dtj::passes::fusion_detail {
namespace {

using ir::OpCategory;

constexpr int max_weight = 12;
constexpr int max_expensive_weight = 40;
/// A value this many times smaller costs nothing to store.
constexpr std::int64_t small_factor = 8;

/// How one region would compute a value by itself.
struct Recipe {
  std::unordered_set<NodeIndex> copies;
  std::vector<NodeIndex> small_leaves;  ///< to be stored
  std::vector<NodeIndex> leaves;        ///< stored already
  int weight = 0;
  int num_expensive = 0;
  int num_new_tensors = 0;
};

class Planner {
 public:
  Planner(const Analysis& a, const Clusters& c) : a_(a), c_(c), is_pinned_(a.users.size()) {
    t_.is_stored.resize(a.users.size());
    t_.recomputed.resize(c.clusters.size());
  }

  Traffic run() {
    for (NodeIndex i = 0; i < a_.users.size(); ++i)
      if (c_.of_node[i] != Clusters::no_cluster) t_.is_stored[i] = a_.in_memory[i] || !reading_clusters(i).empty();
    // Twice: what the first round copies into a region makes that region a reader of more tensors.
    for (int round = 0; round < 2; ++round)
      for (NodeIndex i = 0; i < a_.users.size(); ++i)
        if (t_.is_stored[i] && is_candidate(i)) try_recompute(i);
    return std::move(t_);
  }

 private:
  std::vector<std::uint32_t> reading_clusters(NodeIndex i) const {
    std::vector<std::uint32_t> clusters;
    for (const NodeIndex reader : a_.readers[i]) {
      const std::uint32_t c = c_.of_node[reader];
      if (c == Clusters::no_cluster || c == c_.of_node[i]) continue;
      if (std::find(clusters.begin(), clusters.end(), c) == clusters.end()) clusters.push_back(c);
    }
    return clusters;
  }

  bool is_candidate(NodeIndex i) const {
    return !a_.in_memory[i] && !is_pinned_[i] && ir::category(a_.node(i).op) == OpCategory::elementwise;
  }

  std::int64_t size_of(ir::ValueId value) const { return num_elements(a_.graph->type(value).shape); }
  std::int64_t size_of(NodeIndex i) const { return size_of(a_.node(i).results[0]); }

  void try_recompute(NodeIndex i) {
    // All readers that need the value, in their own right or inside a copy of another one.
    std::vector<std::uint32_t> clusters = reading_clusters(i);
    for (std::uint32_t c = 0; c < t_.recomputed.size(); ++c)
      for (const NodeIndex copy : t_.recomputed[c])
        if (reads(copy, i) && std::find(clusters.begin(), clusters.end(), c) == clusters.end()) clusters.push_back(c);
    std::vector<Recipe> recipes;
    for (const std::uint32_t c : clusters) {
      if (c_.clusters[c].size() > size_of(i)) return;  // next to what the region does, storing it is nothing
      Recipe recipe;
      if (!visit(i, i, c, recipe)) return;
      const bool is_cheap = recipe.num_expensive == 0 && recipe.weight <= max_weight && recipe.num_new_tensors <= 1;
      const bool saves_all =
          recipe.num_expensive <= 1 && recipe.weight <= max_expensive_weight && recipe.num_new_tensors == 0;
      if (!is_cheap && !saves_all) return;
      recipes.push_back(std::move(recipe));
    }
    for (std::size_t k = 0; k < clusters.size(); ++k) {
      t_.recomputed[clusters[k]].insert(recipes[k].copies.begin(), recipes[k].copies.end());
      for (const NodeIndex leaf : recipes[k].small_leaves) t_.is_stored[leaf] = is_pinned_[leaf] = true;
      for (const NodeIndex leaf : recipes[k].leaves) is_pinned_[leaf] = true;
    }
    t_.is_stored[i] = false;
  }

  bool reads(NodeIndex reader, NodeIndex i) const {
    return std::find(a_.readers[i].begin(), a_.readers[i].end(), reader) != a_.readers[i].end();
  }

  /// Walks up from node i until everything is in memory.
  bool visit(NodeIndex i, NodeIndex wanted, std::uint32_t cluster, Recipe& recipe) const {
    const ir::Node& node = a_.node(i);
    if (!a_.is_inline[i]) {
      if (ir::category(node.op) != OpCategory::elementwise) return false;
      if (!recipe.copies.insert(i).second) return true;
    }
    recipe.weight += op_weight(node.op);
    if (is_expensive(node.op)) ++recipe.num_expensive;
    if (recipe.weight > max_expensive_weight) return false;
    for (const ir::ValueId operand : node.operands) {
      const auto p = a_.producer(operand);
      if (p && a_.is_inline[*p]) {
        if (!visit(*p, wanted, cluster, recipe)) return false;
        continue;
      }
      if (p && c_.of_node[*p] != Clusters::no_cluster && !t_.is_stored[*p]) {
        if (size_of(*p) * small_factor > size_of(wanted)) {
          if (!visit(*p, wanted, cluster, recipe)) return false;
          continue;
        }
        if (!can_store(*p)) return false;
        recipe.small_leaves.push_back(*p);
        continue;
      }
      if (p && c_.of_node[*p] != Clusters::no_cluster) recipe.leaves.push_back(*p);
      const bool is_small = size_of(operand) * small_factor <= size_of(wanted);
      if (!is_small && !cluster_reads(cluster, operand, wanted)) ++recipe.num_new_tensors;
    }
    return true;
  }

  /// Inside a column region only the sums can be results.
  bool can_store(NodeIndex i) const {
    const Cluster& cluster = c_.clusters[c_.of_node[i]];
    return cluster.kind != ClusterKind::column ||
           wide_dims(a_.graph->type(a_.node(i).results[0]).shape) == cluster.kept_dims();
  }

  /// True if the region reads the value from memory now, other than through `wanted`.
  bool cluster_reads(std::uint32_t cluster, ir::ValueId value, NodeIndex wanted) const {
    std::unordered_set<NodeIndex> seen;
    std::vector<NodeIndex> open = c_.clusters[cluster].nodes;
    while (!open.empty()) {
      const NodeIndex i = open.back();
      open.pop_back();
      if (!seen.insert(i).second) continue;
      for (const ir::ValueId operand : a_.node(i).operands) {
        if (operand == value) return true;
        const auto p = a_.producer(operand);
        if (p && *p != wanted && is_inside(a_, c_, t_, cluster, *p)) open.push_back(*p);
      }
    }
    return false;
  }

  const Analysis& a_;
  const Clusters& c_;
  Traffic t_;
  std::vector<bool> is_pinned_;  ///< copies read it from memory
};

}  // namespace

Traffic plan_traffic(const Analysis& analysis, const Clusters& clusters) {
  return Planner(analysis, clusters).run();
}

bool is_inside(const Analysis& analysis, const Clusters& clusters, const Traffic& traffic, std::uint32_t cluster,
               NodeIndex i) {
  return analysis.is_inline[i] || clusters.of_node[i] == cluster || traffic.recomputed[cluster].count(i) != 0;
}

}  // namespace dtj::passes::fusion_detail
