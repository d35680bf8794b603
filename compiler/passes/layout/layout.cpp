#include <algorithm>
#include <gsl/gsl>
#include <numeric>
#include <optional>

#include "compiler/passes/graph_copy.hpp"
#include "compiler/passes/passes.hpp"

// Transposes move towards the outputs: a value that is the transpose of another is worked on in the order in which that
// one lies, until something needs the order of the job. A convolution gives [O, B, H, W], so what follows it up to the
// next matrix product stays in that order, in which one channel is one contiguous row.

namespace dtj::passes {
namespace {

using ir::Node;
using ir::Op;
using ir::OpCategory;
using ir::ValueId;
using Ints = std::vector<std::int64_t>;

/// What is copied to another order must be this many times smaller than what it is for.
constexpr std::int64_t small_factor = 8;

std::size_t position(std::int64_t axis) {
  return gsl::narrow<std::size_t>(axis);
}

/// A value of the old graph as transpose(source, order).
struct Moved {
  ValueId source;
  Ints order;
};

bool is_identity(const Ints& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (position(order[i]) != i) return false;
  return true;
}

Ints inverse(const Ints& order) {
  Ints result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[position(order[i])] = gsl::narrow<std::int64_t>(i);
  return result;
}

/// The shape of the source of a value of this shape.
Shape source_shape(const Shape& shape, const Ints& order) {
  Shape result(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) result[position(order[i])] = shape[i];
  return result;
}

/// Pairs of numbers per dim, as slice and pad have them.
Ints source_pairs(const Ints& pairs, const Ints& order) {
  Ints result(pairs.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    result[2 * position(order[i])] = pairs[2 * i];
    result[2 * position(order[i]) + 1] = pairs[2 * i + 1];
  }
  return result;
}

class Mover {
 public:
  explicit Mover(const ir::Graph& graph)
      : graph_(graph), copy_(graph), build_(copy_.graph()), moved_(graph.num_values()), is_set_(graph.num_values()) {
    for (const ir::Input& input : graph.inputs()) is_set_[input.value.value] = true;
  }

  std::optional<ir::Graph> run() {
    for (const Node& node : graph_.nodes()) {
      build_.at(node.range);
      if (auto moved = move(node)) {
        keep(node.results[0], std::move(*moved));
        continue;
      }
      for (const ValueId operand : node.operands) at(operand);
      copy_.copy_node(node);
      for (const ValueId result : node.results) is_set_[result.value] = true;
    }
    if (!has_moved_) return std::nullopt;
    for (const ir::Output& output : graph_.outputs()) at(output.value);
    copy_.copy_outputs();
    return std::move(copy_.graph());
  }

 private:
  const ir::Type& type(ValueId value) const { return graph_.type(value); }
  const std::optional<Moved>& moved(ValueId value) const { return moved_[value.value]; }

  void keep(ValueId value, Moved moved) {
    if (is_identity(moved.order)) {
      copy_.set(value, moved.source);
      is_set_[value.value] = true;
      return;
    }
    moved_[value.value] = std::move(moved);
  }

  /// The value in the order of the job.
  ValueId at(ValueId value) {
    if (!is_set_[value.value]) {
      const Moved& moved = *moved_[value.value];
      copy_.set(value, build_.transpose(moved.source, moved.order));
      is_set_[value.value] = true;
    }
    return copy_.at(value);
  }

  /// What the node's result is the transpose of; none: the node stays as it is.
  std::optional<Moved> move(const Node& node) {
    if (node.op == Op::transpose) return move_transpose(node);
    const bool any = std::any_of(node.operands.begin(), node.operands.end(),
                                 [&](ValueId operand) { return moved(operand).has_value(); });
    if (!any) return std::nullopt;
    has_moved_ = true;
    switch (ir::category(node.op)) {
      case OpCategory::elementwise:
        return move_elementwise(node);
      case OpCategory::reduce: {
        const Moved& x = *moved(node.operands[0]);
        Ints axes;
        for (const std::int64_t axis : node.attrs.ints) axes.push_back(x.order[position(axis)]);
        return Moved{build_.reduce(node.op, x.source, axes), x.order};
      }
      case OpCategory::movement:
        return move_movement(node);
      case OpCategory::leaf:
      case OpCategory::contraction:
      case OpCategory::indexing:
      case OpCategory::collective:
      case OpCategory::fused:
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Moved> move_transpose(const Node& node) {
    const auto& inner = moved(node.operands[0]);
    if (!inner) return Moved{at(node.operands[0]), node.attrs.ints};
    Ints order;
    for (const std::int64_t dim : node.attrs.ints) order.push_back(inner->order[position(dim)]);
    return Moved{inner->source, order};
  }

  std::optional<Moved> move_elementwise(const Node& node) {
    const auto first = std::find_if(node.operands.begin(), node.operands.end(),
                                    [&](ValueId operand) { return moved(operand).has_value(); });
    const Ints order = moved(*first)->order;
    std::vector<ValueId> operands;
    for (const ValueId operand : node.operands) {
      const auto aligned = align(operand, order);
      if (!aligned) return std::nullopt;
      operands.push_back(*aligned);
    }
    const ir::Type& result = type(node.results[0]);
    const ir::NodeId id = copy_.graph().add_node(
        node.op, operands, {{result.dtype, source_shape(result.shape, order)}}, node.attrs, node.range);
    return Moved{copy_.graph().node(id).results[0], order};
  }

  /// The source of `value` in that order, if having it costs nothing to speak of.
  std::optional<ValueId> align(ValueId value, const Ints& order) {
    if (const auto& known = moved(value)) return known->order == order ? std::optional(known->source) : std::nullopt;
    const auto producer = graph_.value(value).producer;
    if (!producer) return std::nullopt;
    const Node& node = graph_.node(*producer);
    const ir::Type aligned{type(value).dtype, source_shape(type(value).shape, order)};
    if (node.op == Op::constant) return build_.constant(aligned, node.attrs.number);
    if (node.op == Op::iota) return build_.iota(aligned, order[position(node.attrs.ints[0])]);
    if (node.op != Op::broadcast) return std::nullopt;
    const std::int64_t size = num_elements(type(node.operands[0]).shape);
    if (size * small_factor > num_elements(aligned.shape)) return std::nullopt;
    return build_.broadcast(build_.transpose(at(node.operands[0]), inverse(order)), aligned.shape);
  }

  std::optional<Moved> move_movement(const Node& node) {
    if (node.op == Op::concat) return move_concat(node);
    const Moved x = *moved(node.operands[0]);
    const Shape& to = type(node.results[0]).shape;
    if (node.op == Op::broadcast) return Moved{build_.broadcast(x.source, source_shape(to, x.order)), x.order};
    if (node.op == Op::slice) return Moved{build_.slice(x.source, source_pairs(node.attrs.ints, x.order)), x.order};
    if (node.op == Op::pad) return Moved{build_.pad(x.source, source_pairs(node.attrs.ints, x.order)), x.order};
    if (node.op == Op::windows) return move_windows(node, x);
    if (node.op == Op::reshape) return move_reshape(node, x);
    return std::nullopt;
  }

  std::optional<Moved> move_concat(const Node& node) {
    if (!moved(node.operands[0])) return std::nullopt;
    const Ints order = moved(node.operands[0])->order;
    std::vector<ValueId> sources;
    for (const ValueId operand : node.operands) {
      if (!moved(operand) || moved(operand)->order != order) return std::nullopt;
      sources.push_back(moved(operand)->source);
    }
    return Moved{build_.concat(sources, order[position(node.attrs.ints[0])]), order};
  }

  Moved move_windows(const Node& node, const Moved& x) {
    struct Axis {
      std::int64_t axis, size, stride;
      std::size_t number;  ///< among the axes of the node
    };
    std::vector<Axis> axes;
    const Ints& ints = node.attrs.ints;
    for (std::size_t i = 0; i < ints.size(); i += 3)
      axes.push_back({x.order[position(ints[i])], ints[i + 1], ints[i + 2], i / 3});
    std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.axis < b.axis; });
    Ints triples, order = x.order;
    order.resize(x.order.size() + axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      triples.insert(triples.end(), {axes[i].axis, axes[i].size, axes[i].stride});
      order[x.order.size() + axes[i].number] = gsl::narrow<std::int64_t>(x.order.size() + i);
    }
    return {build_.windows(x.source, triples), order};
  }

  /// One that only adds and drops dims of extent 1: those of the result go to the end of the source.
  std::optional<Moved> move_reshape(const Node& node, const Moved& x) {
    const auto is_wide = [](std::int64_t extent) { return extent != 1; };
    const Shape& from = type(node.operands[0]).shape;
    const Shape& to = type(node.results[0]).shape;
    Shape wide_from, wide_to, shape;
    std::copy_if(from.begin(), from.end(), std::back_inserter(wide_from), is_wide);
    std::copy_if(to.begin(), to.end(), std::back_inserter(wide_to), is_wide);
    if (wide_from != wide_to) return std::nullopt;
    const Shape source = build_.type(x.source).shape;
    Ints place(source.size());  // of a wide dim of the source among its wide dims
    for (std::size_t dim = 0; dim < source.size(); ++dim) {
      place[dim] = gsl::narrow<std::int64_t>(shape.size());
      if (is_wide(source[dim])) shape.push_back(source[dim]);
    }
    Ints order;
    std::size_t dim = 0;
    for (const std::int64_t extent : to) {
      if (!is_wide(extent)) {
        order.push_back(gsl::narrow<std::int64_t>(shape.size()));
        shape.push_back(1);
        continue;
      }
      while (!is_wide(from[dim])) ++dim;
      order.push_back(place[position(x.order[dim++])]);
    }
    return Moved{build_.reshape(x.source, shape), order};
  }

  const ir::Graph& graph_;
  GraphCopy copy_;
  ir::Builder build_;
  std::vector<std::optional<Moved>> moved_;
  std::vector<bool> is_set_;
  bool has_moved_ = false;
};

}  // namespace

bool layout(ir::Graph& graph, const PassContext&) {
  const std::uint64_t before = ir::structural_hash(graph);
  auto moved = Mover(graph).run();
  if (!moved) return false;
  graph = std::move(*moved);
  return ir::structural_hash(graph) != before;
}

}  // namespace dtj::passes
