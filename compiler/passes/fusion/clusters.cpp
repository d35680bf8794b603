#include "compiler/passes/fusion/clusters.hpp"

#include <algorithm>
#include <functional>
#include <gsl/gsl>
#include <numeric>
#include <optional>

// Clusters start as single nodes and merge along their edges. A merge is allowed if every edge inside reads the value
// where it is made, and if nothing outside lies on a way from the cluster to itself.

namespace dtj::passes::fusion_detail {
namespace {

using ir::OpCategory;

/// Whether a value has one element per iteration or one per row.
enum class Level : std::uint8_t { full, kept };

constexpr std::size_t max_nodes = 160;
/// A cluster of so few rows leaves other threads idle: no more full-size work for it than it needs.
constexpr std::int64_t few_rows = 8;
constexpr std::int64_t large_row_cluster = 32768;

class Merger {
 public:
  explicit Merger(const Analysis& a) : a_(a), visited_(a.users.size(), 0) {
    c_.of_node.assign(a.users.size(), Clusters::no_cluster);
    for (NodeIndex i = 0; i < a.users.size(); ++i)
      if (a.in_cluster(i)) add_single(i);
  }

  Clusters run() {
    merge_sibling_columns();
    fill_columns();
    merge_edges();
    return std::move(c_);
  }

 private:
  void add_single(NodeIndex i) {
    const ir::Node& node = a_.node(i);
    const bool is_reduce = ir::category(node.op) == OpCategory::reduce;
    const Shape& shape = a_.graph->type(is_reduce ? node.operands[0] : node.results[0]).shape;
    Cluster cluster;
    cluster.nodes = {i};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const auto axis = gsl::narrow<std::int64_t>(d);
      cluster.dims.push_back(shape[d]);
      cluster.reduced.push_back(is_reduce && std::find(node.attrs.ints.begin(), node.attrs.ints.end(), axis) !=
                                                 node.attrs.ints.end());
    }
    if (is_reduce) cluster.kind = cluster.reduced.back() ? ClusterKind::row : ClusterKind::column;
    c_.of_node[i] = gsl::narrow<std::uint32_t>(c_.clusters.size());
    c_.clusters.push_back(std::move(cluster));
  }

  // ---- may they merge?
  // -------------------------------------------------------------------------------------------------

  static std::optional<Level> level_of(const Cluster& merged, const std::vector<std::int64_t>& dims) {
    if (dims == merged.dims) return Level::full;
    if (merged.kind != ClusterKind::elementwise && dims == merged.kept_dims()) return Level::kept;
    return std::nullopt;
  }
  std::optional<Level> level_of(const Cluster& merged, NodeIndex i) const {
    return level_of(merged, wide_dims(a_.graph->type(a_.node(i).results[0]).shape));
  }

  /// What both would be together, nodes left out.
  static std::optional<Cluster> join(const Cluster& a, const Cluster& b) {
    if (a.kind != ClusterKind::elementwise && b.kind != ClusterKind::elementwise) {
      if (a.kind != b.kind || a.dims != b.dims || a.reduced != b.reduced) return std::nullopt;
    }
    const Cluster& base = a.kind != ClusterKind::elementwise ? a : b;
    const Cluster& guest = &base == &a ? b : a;
    Cluster merged{base.kind, base.dims, base.reduced, {}};
    if (!level_of(merged, guest.dims)) return std::nullopt;
    return merged;
  }

  bool edge_fits(const Cluster& merged, NodeIndex reader, const Source& source) const {
    const std::optional<Level> made = level_of(merged, source.producer);
    std::optional<Level> used = level_of(merged, reader);
    if (!made || !used || source.kind == PathKind::other) return false;
    if (ir::category(a_.node(reader).op) == OpCategory::reduce) used = Level::full;
    if (source.kind == PathKind::same) return made == used;
    return merged.kind == ClusterKind::row && made == Level::kept && used == Level::full &&
           source.expanded == merged.reduced;
  }

  bool edges_fit(const Cluster& merged, std::uint32_t x, std::uint32_t y) const {
    for (const std::uint32_t side : {x, y})
      for (const NodeIndex reader : c_.clusters[side].nodes) {
        if (!level_of(merged, reader)) return false;
        for (const Source& source : a_.sources[reader]) {
          const std::uint32_t other = c_.of_node[source.producer];
          if (other != side && (other == x || other == y) && !edge_fits(merged, reader, source)) return false;
        }
      }
    return true;
  }

  /// True if a node outside both lies between them.
  bool has_way_around(std::uint32_t x, std::uint32_t y) {
    ++mark_;
    std::vector<NodeIndex> open;
    const auto push_readers = [&](NodeIndex i, bool from_pair) {
      for (const NodeIndex reader : a_.readers[i]) {
        const bool in_pair = is_in(reader, x) || is_in(reader, y);
        if (from_pair && in_pair) continue;
        if (visited_[reader] == mark_) continue;
        visited_[reader] = mark_;
        open.push_back(reader);
      }
    };
    for (const std::uint32_t side : {x, y})
      for (const NodeIndex i : c_.clusters[side].nodes) push_readers(i, true);
    while (!open.empty()) {
      const NodeIndex i = open.back();
      open.pop_back();
      if (is_in(i, x) || is_in(i, y)) return true;
      push_readers(i, false);
      // The whole cluster runs when one of its nodes does.
      const std::uint32_t cluster = c_.of_node[i];
      if (cluster == Clusters::no_cluster) continue;
      for (const NodeIndex member : c_.clusters[cluster].nodes) {
        if (visited_[member] == mark_) continue;
        visited_[member] = mark_;
        push_readers(member, false);
      }
    }
    return false;
  }
  bool is_in(NodeIndex i, std::uint32_t cluster) const { return c_.of_node[i] == cluster; }

  /// True if only `cluster` reads what `guest` makes.
  bool is_exclusive(std::uint32_t guest, std::uint32_t cluster) const {
    for (const NodeIndex i : c_.clusters[guest].nodes) {
      if (a_.in_memory[i]) return false;
      for (const NodeIndex reader : a_.readers[i])
        if (c_.of_node[reader] != cluster && c_.of_node[reader] != guest) return false;
    }
    return true;
  }

  bool full_guest_is_welcome(const Cluster& merged, std::uint32_t x, std::uint32_t y) const {
    const bool has_guest = c_.clusters[x].kind != c_.clusters[y].kind;
    if (!has_guest) return true;
    const std::uint32_t base = c_.clusters[x].kind != ClusterKind::elementwise ? x : y;
    const std::uint32_t guest = base == x ? y : x;
    if (level_of(merged, c_.clusters[guest].dims) == Level::kept) return true;
    if (merged.kind == ClusterKind::column) return is_exclusive(guest, base);
    const bool is_narrow = merged.num_rows() < few_rows && merged.size() > large_row_cluster;
    return !is_narrow || is_exclusive(guest, base);
  }

  bool try_merge(std::uint32_t x, std::uint32_t y) {
    if (x == y || x == Clusters::no_cluster || y == Clusters::no_cluster) return false;
    const std::optional<Cluster> merged = join(c_.clusters[x], c_.clusters[y]);
    if (!merged || c_.clusters[x].nodes.size() + c_.clusters[y].nodes.size() > max_nodes) return false;
    if (!full_guest_is_welcome(*merged, x, y) || !edges_fit(*merged, x, y) || has_way_around(x, y)) return false;
    std::vector<NodeIndex> nodes;
    std::merge(c_.clusters[x].nodes.begin(), c_.clusters[x].nodes.end(), c_.clusters[y].nodes.begin(),
               c_.clusters[y].nodes.end(), std::back_inserter(nodes));
    for (const NodeIndex i : nodes) c_.of_node[i] = x;
    c_.clusters[y].nodes.clear();
    c_.clusters[x] = *merged;
    c_.clusters[x].nodes = std::move(nodes);
    return true;
  }

  // ---- which merge?
  // ----------------------------------------------------------------------------------------------------

  /// Column sums of one shape that read the same tensor.
  void merge_sibling_columns() {
    std::vector<std::pair<ir::ValueId, std::uint32_t>> first_reader;
    for (std::uint32_t c = 0; c < c_.clusters.size(); ++c) {
      if (c_.clusters[c].kind != ClusterKind::column || c_.clusters[c].nodes.empty()) continue;
      std::vector<ir::ValueId> reads = full_reads(c_.clusters[c].nodes[0]);
      for (const ir::ValueId value : reads) {
        const auto same = [&](const auto& entry) { return entry.first == value && try_merge(entry.second, c); };
        if (std::any_of(first_reader.begin(), first_reader.end(), same)) break;
      }
      if (c_.clusters[c].nodes.empty()) continue;
      for (const ir::ValueId value : reads) first_reader.emplace_back(value, c);
    }
  }

  /// The tensors of the operand's size that it is made of, a few steps up.
  std::vector<ir::ValueId> full_reads(NodeIndex reduce) const {
    const auto dims = wide_dims(a_.graph->type(a_.node(reduce).operands[0]).shape);
    std::vector<ir::ValueId> reads;
    const std::function<void(ir::ValueId, int)> visit = [&](ir::ValueId value, int depth) {
      if (wide_dims(a_.graph->type(value).shape) != dims) return;
      const auto p = a_.producer(value);
      reads.push_back(value);
      if (!p || depth == 0 || ir::category(a_.node(*p).op) != OpCategory::elementwise) return;
      for (const ir::ValueId operand : a_.node(*p).operands) visit(operand, depth - 1);
    };
    visit(a_.node(reduce).operands[0], 2);
    return reads;
  }

  /// Element-wise nodes that only a column sum reads go to it, before anything else claims them.
  void fill_columns() {
    for (std::uint32_t c = 0; c < c_.clusters.size(); ++c) {
      if (c_.clusters[c].kind != ClusterKind::column) continue;
      bool grows = true;
      while (grows) {
        grows = false;
        const std::vector<NodeIndex> nodes = c_.clusters[c].nodes;
        for (const NodeIndex i : nodes)
          for (const Source& source : a_.sources[i]) {
            const std::uint32_t guest = c_.of_node[source.producer];
            if (guest == Clusters::no_cluster || c_.clusters[guest].kind != ClusterKind::elementwise) continue;
            if (c_.clusters[guest].dims == c_.clusters[c].dims) grows = try_merge(c, guest) || grows;
          }
      }
    }
  }

  void merge_edges() {
    bool grows = true;
    while (grows) {
      grows = false;
      for (NodeIndex i = 0; i < c_.of_node.size(); ++i) {
        if (c_.of_node[i] == Clusters::no_cluster) continue;
        for (const Source& source : a_.sources[i])
          if (source.kind != PathKind::other) grows = try_merge(c_.of_node[source.producer], c_.of_node[i]) || grows;
      }
    }
  }

  const Analysis& a_;
  Clusters c_;
  std::vector<std::uint32_t> visited_;
  std::uint32_t mark_ = 0;
};

}  // namespace

std::vector<std::int64_t> Cluster::kept_dims() const {
  std::vector<std::int64_t> kept;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (!reduced[d]) kept.push_back(dims[d]);
  return kept;
}

std::int64_t Cluster::size() const {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Cluster::num_rows() const {
  const std::vector<std::int64_t> kept = kept_dims();
  return std::accumulate(kept.begin(), kept.end(), std::int64_t{1}, std::multiplies<>());
}

Clusters form_clusters(const Analysis& analysis) {
  return Merger(analysis).run();
}

}  // namespace dtj::passes::fusion_detail
