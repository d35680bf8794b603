#include <algorithm>

#include "compiler/passes/canonicalize/simplify.hpp"

namespace dtj::passes {
namespace {

using ir::Op;
using ir::ValueId;
using Ints = std::vector<std::int64_t>;

bool is_movement_of_one(Op op) {
  return ir::category(op) == ir::OpCategory::movement && op != Op::concat;
}

/// Moving equal elements gives equal elements; only pad brings in others.
std::optional<ValueId> move_constant(const Site& site) {
  const std::optional<double> number = site.splat(site.operand(0));
  if (!number || (site.op == Op::pad && *number != 0.0)) return std::nullopt;
  return site.build.constant(site.type, *number);
}

std::optional<ValueId> simplify_transpose(const Site& site) {
  const Ints& order = site.attrs.ints;
  const Shape& from = site.operand_type(0).shape;
  if (const ir::Node* inner = site.producer(site.operand(0), Op::transpose)) {
    Ints composed;
    for (const std::int64_t dim : order) composed.push_back(inner->attrs.ints[static_cast<std::size_t>(dim)]);
    const ValueId source = inner->operands[0];
    return site.build.transpose(source, composed);
  }
  Ints long_dims;
  for (const std::int64_t dim : order)
    if (from[static_cast<std::size_t>(dim)] != 1) long_dims.push_back(dim);
  if (std::is_sorted(long_dims.begin(), long_dims.end())) return site.build.reshape(site.operand(0), site.type.shape);
  return std::nullopt;
}

std::optional<ValueId> simplify_slice(const Site& site) {
  const ir::Node* inner = site.producer(site.operand(0), Op::slice);
  if (inner == nullptr) return std::nullopt;
  Ints merged = site.attrs.ints;
  for (std::size_t i = 0; i < merged.size(); ++i) merged[i] += inner->attrs.ints[i / 2 * 2];
  const ValueId source = inner->operands[0];
  return site.build.slice(source, merged);
}

std::optional<ValueId> simplify_pad(const Site& site) {
  const ir::Node* inner = site.producer(site.operand(0), Op::pad);
  if (inner == nullptr) return std::nullopt;
  Ints merged = site.attrs.ints;
  for (std::size_t i = 0; i < merged.size(); ++i) merged[i] += inner->attrs.ints[i];
  const ValueId source = inner->operands[0];
  return site.build.pad(source, merged);
}

/// Windows that touch without overlapping hold every element once: splitting the axes and moving the places inside to the
/// end gives them.
std::optional<ValueId> simplify_windows(const Site& site) {
  const Ints& ints = site.attrs.ints;
  Shape shape = site.operand_type(0).shape;
  const std::size_t num_dims = shape.size();
  Ints range, order, places;
  for (const std::int64_t extent : shape) range.insert(range.end(), {0, extent});
  for (std::size_t i = 0; i < ints.size(); i += 3) {
    if (ints[i + 1] != ints[i + 2]) return std::nullopt;
    const auto axis = static_cast<std::size_t>(ints[i]);
    range[2 * axis + 1] = site.type.shape[axis] * ints[i + 1];
  }
  Shape split;
  for (std::size_t dim = 0, i = 0; dim < num_dims; ++dim) {
    order.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(site.type.shape[dim]);
    if (i == ints.size() || ints[i] != static_cast<std::int64_t>(dim)) continue;
    places.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(ints[i + 1]);
    i += 3;
  }
  order.insert(order.end(), places.begin(), places.end());
  ValueId x = site.operand(0);
  for (std::size_t dim = 0; dim < num_dims; ++dim) shape[dim] = range[2 * dim + 1];
  if (shape != site.operand_type(0).shape) x = site.build.slice(x, range);
  return site.build.transpose(site.build.reshape(x, split), order);
}

/// Parts that are concatenations along the same axis give their own parts.
std::optional<ValueId> simplify_concat(const Site& site) {
  if (site.operands.size() == 1) return site.operand(0);
  std::vector<ValueId> parts;
  for (const ValueId operand : site.operands) {
    const ir::Node* inner = site.producer(operand, Op::concat);
    if (inner != nullptr && inner->attrs.ints == site.attrs.ints)
      parts.insert(parts.end(), inner->operands.begin(), inner->operands.end());
    else
      parts.push_back(operand);
  }
  if (parts.size() == site.operands.size()) return std::nullopt;
  return site.build.concat(parts, site.attrs.ints[0]);
}

/// A reduction over extents of 1 adds nothing up.
std::optional<ValueId> simplify_reduce(const Site& site) {
  if (site.type == site.operand_type(0)) return site.operand(0);
  const std::optional<double> number = site.splat(site.operand(0));
  const bool is_empty = num_elements(site.operand_type(0).shape) == 0;
  const bool keeps_value = number && (site.op == Op::reduce_max || *number == 0.0);
  if (!keeps_value || is_empty) return std::nullopt;
  return site.build.constant(site.type, *number);
}

/// The one axis along which a pad adds anything.
std::optional<std::size_t> padded_axis(const Ints& widths) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    if (axis && *axis != i / 2) return std::nullopt;
    axis = i / 2;
  }
  return axis;
}

}  // namespace

std::optional<ValueId> simplify_sum_of_pads(const Site& site) {
  const ir::Node* first = site.producer(site.operand(0), Op::pad);
  const ir::Node* second = site.producer(site.operand(1), Op::pad);
  if (first == nullptr || second == nullptr) return std::nullopt;
  const auto axis = padded_axis(first->attrs.ints);
  if (!axis || axis != padded_axis(second->attrs.ints)) return std::nullopt;
  const std::size_t before = 2 * *axis, after = before + 1;
  if (first->attrs.ints[before] > second->attrs.ints[before]) std::swap(first, second);
  const std::int64_t first_extent = site.build.type(first->operands[0]).shape[*axis];
  if (first->attrs.ints[before] + first_extent != second->attrs.ints[before]) return std::nullopt;
  Ints widths = first->attrs.ints;
  widths[after] = second->attrs.ints[after];
  const std::vector<ValueId> parts{first->operands[0], second->operands[0]};
  return site.build.pad(site.build.concat(parts, static_cast<std::int64_t>(*axis)), widths);
}

std::optional<ValueId> simplify_movement(const Site& site) {
  if (site.op == Op::reduce_sum || site.op == Op::reduce_max) return simplify_reduce(site);
  if (site.op == Op::concat) return simplify_concat(site);
  if (!is_movement_of_one(site.op)) return std::nullopt;
  if (const auto constant = move_constant(site)) return constant;
  // Every movement but transpose that keeps the shape keeps all places.
  if (site.op != Op::transpose && site.type == site.operand_type(0)) return site.operand(0);
  switch (site.op) {
    case Op::reshape:
    case Op::broadcast: {
      const ir::Node* inner = site.producer(site.operand(0), site.op);
      if (inner == nullptr) return std::nullopt;
      const ValueId source = inner->operands[0];
      return site.op == Op::reshape ? site.build.reshape(source, site.type.shape)
                                    : site.build.broadcast(source, site.type.shape);
    }
    case Op::transpose:
      return simplify_transpose(site);
    case Op::slice:
      return simplify_slice(site);
    case Op::pad:
      return simplify_pad(site);
    case Op::windows:
      return simplify_windows(site);
    default:
      return std::nullopt;
  }
}

}  // namespace dtj::passes
