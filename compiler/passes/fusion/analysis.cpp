#include "compiler/passes/fusion/analysis.hpp"

#include <algorithm>
#include <gsl/gsl>
#include <unordered_map>

namespace dtj::passes::fusion_detail {
namespace {

using ir::Node;
using ir::Op;
using ir::OpCategory;

/// A reshape that splits dims of its operand: each of its elements is at an affine place of the operand.
bool is_split(const ir::Graph& graph, const Node& node) {
  const std::vector<std::int64_t> from = wide_dims(graph.type(node.operands[0]).shape);
  const std::vector<std::int64_t> to = wide_dims(graph.type(node.results[0]).shape);
  std::size_t j = 0;
  for (const std::int64_t extent : from) {
    if (extent == 0) return false;
    std::int64_t size = 1;
    while (size < extent && j < to.size()) size *= to[j++];
    if (size != extent) return false;
  }
  return j == to.size();
}

/// True if the last wide dim of the operand is the last one of the result too.
bool keeps_last_dim(const ir::Graph& graph, const Node& node) {
  if (node.op != Op::transpose) return true;
  const Shape& to = graph.type(node.results[0]).shape;
  const Shape& from = graph.type(node.operands[0]).shape;
  std::int64_t last_to = -1, last_from = -1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] != 1) last_to = node.attrs.ints[i];
    if (from[i] != 1) last_from = gsl::narrow<std::int64_t>(i);
  }
  return last_to == last_from;
}

class Analyser {
 public:
  explicit Analyser(const ir::Graph& graph) : graph_(graph), n_(graph.nodes().size()) {
    a_.graph = &graph;
    a_.fusible.resize(n_);
    a_.is_inline.resize(n_);
    a_.in_memory.resize(n_);
    a_.users.resize(n_);
    a_.sources.resize(n_);
    a_.readers.resize(n_);
    is_leafy_.resize(n_);
  }

  Analysis run() {
    for (NodeIndex i = 0; i < n_; ++i) classify(i);
    for (NodeIndex i = static_cast<NodeIndex>(n_); i-- > 0;) decide_inline(i);
    for (const ir::Output& output : graph_.outputs()) need_in_memory(output.value);
    for (NodeIndex i = 0; i < n_; ++i)
      if (!a_.fusible[i] && !a_.is_inline[i])
        for (const ir::ValueId operand : graph_.nodes()[i].operands) need_in_memory(operand);
    for (NodeIndex i = 0; i < n_; ++i)
      if (a_.has_place(i)) find_sources(i);
    return std::move(a_);
  }

 private:
  void classify(NodeIndex i) {
    const Node& node = graph_.nodes()[i];
    for (const ir::ValueId operand : node.operands)
      if (const auto p = a_.producer(operand)) a_.users[*p].push_back(i);
    const OpCategory category = ir::category(node.op);
    a_.fusible[i] = category == OpCategory::leaf || category == OpCategory::elementwise ||
                    category == OpCategory::reduce ||
                    (category == OpCategory::movement && (node.op != Op::reshape || is_squeeze(graph_, node)));
    const auto leafy = [&](ir::ValueId value) {
      const auto p = a_.producer(value);
      return p && is_leafy_[*p];
    };
    const bool can_be = category == OpCategory::leaf || (category == OpCategory::movement && a_.fusible[i]) ||
                        (category == OpCategory::elementwise && !is_expensive(node.op));
    is_leafy_[i] = can_be && std::all_of(node.operands.begin(), node.operands.end(), leafy);
  }

  bool all_users(NodeIndex i, bool (Analyser::*test)(NodeIndex) const) const {
    return !a_.users[i].empty() &&
           std::all_of(a_.users[i].begin(), a_.users[i].end(), [&](NodeIndex user) { return (this->*test)(user); });
  }
  bool is_inline_movement(NodeIndex i) const {
    return a_.is_inline[i] && ir::category(graph_.nodes()[i].op) == OpCategory::movement &&
           graph_.nodes()[i].op != Op::broadcast;
  }
  bool is_fusible(NodeIndex i) const { return a_.fusible[i] || a_.is_inline[i]; }

  /// Users come later in the graph and are decided already.
  void decide_inline(NodeIndex i) {
    const Node& node = graph_.nodes()[i];
    if (is_leafy_[i]) {
      a_.is_inline[i] = true;
      return;
    }
    switch (ir::category(node.op)) {
      case OpCategory::movement:
        if (node.op == Op::broadcast || node.op == Op::slice || (node.op == Op::reshape && a_.fusible[i]))
          a_.is_inline[i] = true;
        else if (node.op == Op::transpose)
          a_.is_inline[i] = all_users(i, &Analyser::is_inline_movement);
        else if (node.op == Op::windows)
          a_.is_inline[i] = all_users(i, &Analyser::is_inline_movement) || reads_elsewhere(i);
        else if (node.op == Op::reshape)
          a_.is_inline[i] = is_split(graph_, node) && has_chain(node) && all_users(i, &Analyser::is_fusible);
        else
          a_.is_inline[i] = reads_elsewhere(i);
        return;
      case OpCategory::elementwise:
        a_.is_inline[i] = !is_expensive(node.op) && reads_elsewhere(i) && !is_read_often(i);
        return;
      case OpCategory::leaf:
      case OpCategory::reduce:
      case OpCategory::contraction:
      case OpCategory::indexing:
      case OpCategory::collective:
      case OpCategory::fused:
        return;
    }
  }

  /// A reshape is free on whole tensors; absorbing it pays only if element-wise work behind it comes along.
  bool has_chain(const Node& reshape) const {
    const auto p = a_.producer(reshape.operands[0]);
    return p && a_.users[*p].size() == 1 && ir::category(graph_.nodes()[*p].op) == OpCategory::elementwise &&
           !is_expensive(graph_.nodes()[*p].op);
  }

  /// A cheap node whose only use reads it at other places: it is computed there.
  bool reads_elsewhere(NodeIndex i) const {
    if (a_.users[i].size() != 1 || is_output(graph_.nodes()[i].results[0])) return false;
    const NodeIndex user = a_.users[i][0];
    const Node& reader = graph_.nodes()[user];
    if (!is_fusible(user)) return false;
    if (ir::category(reader.op) == OpCategory::elementwise) return a_.is_inline[user] && !is_leafy_[user];
    if (ir::category(reader.op) != OpCategory::movement || reader.op == Op::broadcast) return false;
    if (reader.op == Op::reshape && a_.fusible[user]) return is_inline_movement(user) && reads_elsewhere(user);
    return keeps_last_dim(graph_, reader) || num_wide_operands(i) <= 1;
  }

  /// True if windows that overlap read the node: it would be computed once for each of them.
  bool is_read_often(NodeIndex i) const {
    for (const NodeIndex user : a_.users[i]) {
      const Node& reader = graph_.nodes()[user];
      if (reader.op == Op::windows) {
        for (std::size_t k = 0; k < reader.attrs.ints.size(); k += 3)
          if (reader.attrs.ints[k + 1] > reader.attrs.ints[k + 2]) return true;
      }
      if (a_.is_inline[user] && is_read_often(user)) return true;
    }
    return false;
  }

  bool is_output(ir::ValueId value) const {
    return std::any_of(graph_.outputs().begin(), graph_.outputs().end(),
                       [&](const ir::Output& output) { return output.value == value; });
  }

  int num_wide_operands(NodeIndex i) const {
    int count = 0;
    for (const ir::ValueId operand : graph_.nodes()[i].operands) {
      const auto p = a_.producer(operand);
      if (!p || (!is_leafy_[*p] && graph_.nodes()[*p].op != Op::broadcast)) ++count;
    }
    return count;
  }

  void need_in_memory(ir::ValueId value) {
    auto p = a_.producer(value);
    // A reshape of a tensor in memory is another name for it.
    while (p && graph_.nodes()[*p].op == Op::reshape && !a_.in_memory[*p]) {
      a_.in_memory[*p] = true;
      a_.is_inline[*p] = a_.is_inline[*p] && a_.fusible[*p];
      p = a_.producer(graph_.nodes()[*p].operands[0]);
    }
    if (p) a_.in_memory[*p] = true;
  }

  // ---- sources
  // -------------------------------------------------------------------------------------------------------

  /// A use of `value` whose dims the reader numbers by `place` (dim wider than 1 of `value` -> dim of the reader).
  struct Path {
    PathKind kind = PathKind::same;
    std::vector<std::size_t> place;
    std::size_t num_dims = 0;
  };

  static Path identity(std::size_t num_dims) {
    Path path{PathKind::same, {}, num_dims};
    for (std::size_t d = 0; d < num_dims; ++d) path.place.push_back(d);
    return path;
  }

  void find_sources(NodeIndex reader) {
    const Node& node = graph_.nodes()[reader];
    if (node.op == Op::broadcast)
      return follow(reader, node, identity(wide_dims(graph_.type(node.results[0]).shape).size()));
    for (const ir::ValueId operand : node.operands) {
      if (!a_.in_cluster(reader)) {
        // It reads memory: nothing between it and the producer is inline.
        if (const auto p = a_.producer(operand)) add_source(reader, {*p, PathKind::other, {}});
      } else if (ir::category(node.op) == OpCategory::movement) {
        trace(reader, operand, Path{PathKind::other, {}, 0});
      } else {
        trace(reader, operand, identity(wide_dims(graph_.type(operand).shape).size()));
      }
    }
  }

  void add_source(NodeIndex reader, Source source) {
    a_.readers[source.producer].push_back(reader);
    a_.sources[reader].push_back(std::move(source));
  }

  void trace(NodeIndex reader, ir::ValueId value, Path path) {
    const auto p = a_.producer(value);
    if (!p) return;
    if (a_.is_inline[*p]) return follow(reader, graph_.nodes()[*p], std::move(path));
    Source source{*p, path.kind, {}};
    if (path.kind != PathKind::other) {
      source.expanded.assign(path.num_dims, true);
      for (const std::size_t d : path.place) source.expanded[d] = false;
      if (std::find(source.expanded.begin(), source.expanded.end(), true) != source.expanded.end())
        source.kind = PathKind::expand;
    }
    add_source(reader, std::move(source));
  }

  /// Through an inline node: what its operands' dims are to the reader.
  void follow(NodeIndex reader, const Node& node, Path path) {
    if (path.kind != PathKind::other && node.op == Op::broadcast) {
      const Shape& to = graph_.type(node.results[0]).shape;
      const Shape& from = graph_.type(node.operands[0]).shape;
      std::vector<std::size_t> place;
      std::size_t d = 0;
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i] == 1) continue;
        if (from[i] != 1) place.push_back(path.place[d]);
        ++d;
      }
      path.place = std::move(place);
    } else if (ir::category(node.op) == OpCategory::movement && !is_squeeze(graph_, node)) {
      path = Path{PathKind::other, {}, 0};
    }
    for (const ir::ValueId operand : node.operands) trace(reader, operand, path);
  }

  const ir::Graph& graph_;
  std::size_t n_;
  Analysis a_;
  std::vector<bool> is_leafy_;  ///< made of constants and iotas only
};

}  // namespace

std::optional<NodeIndex> Analysis::producer(ir::ValueId value) const {
  const std::optional<ir::NodeId> id = graph->value(value).producer;
  if (!id) return std::nullopt;
  return id->value;
}

Analysis analyse(const ir::Graph& graph) {
  return Analyser(graph).run();
}

std::vector<std::int64_t> wide_dims(const Shape& shape) {
  std::vector<std::int64_t> dims;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(dims), [](std::int64_t extent) { return extent != 1; });
  return dims;
}

bool is_squeeze(const ir::Graph& graph, const Node& node) {
  return node.op == Op::reshape &&
         wide_dims(graph.type(node.operands[0]).shape) == wide_dims(graph.type(node.results[0]).shape);
}

bool is_expensive(Op op) {
  return op == Op::exp || op == Op::log || op == Op::tanh || op == Op::erf || op == Op::sin || op == Op::cos ||
         op == Op::pow || op == Op::random;
}

int op_weight(Op op) {
  if (is_expensive(op)) return 20;
  if (op == Op::div || op == Op::sqrt || op == Op::rsqrt) return 3;
  return ir::category(op) == OpCategory::elementwise ? 1 : 0;
}

}  // namespace dtj::passes::fusion_detail
