#include <algorithm>
#include <gsl/gsl>
#include <numeric>

#include "compiler/ir/graph.hpp"

namespace dtj::ir {

ValueId Builder::emit(Op op, std::vector<ValueId> operands, std::vector<Type> wanted, Attrs attrs) {
  std::vector<Type> types;
  for (const ValueId operand : operands) types.push_back(graph_.type(operand));
  auto inferred = infer(op, types, attrs, wanted);
  Expects(inferred.has_value());
  const NodeId node = graph_.add_node(op, std::move(operands), std::move(*inferred), std::move(attrs), range_);
  return graph_.node(node).results.front();
}

ValueId Builder::constant(Type type, double number) {
  return emit(Op::constant, {}, {std::move(type)}, {{}, number, {}});
}

ValueId Builder::iota(Type type, std::int64_t axis) {
  return emit(Op::iota, {}, {std::move(type)}, {{axis}, 0, {}});
}

ValueId Builder::unary(Op op, ValueId x) {
  Expects(num_operands(op) == 1 && category(op) == OpCategory::elementwise && op != Op::cast);
  return emit(op, {x}, {}, {});
}

ValueId Builder::binary(Op op, ValueId a, ValueId b) {
  Expects(num_operands(op) == 2 && category(op) == OpCategory::elementwise);
  return emit(op, {a, b}, {}, {});
}

ValueId Builder::select(ValueId condition, ValueId a, ValueId b) {
  return emit(Op::select, {condition, a, b}, {}, {});
}

ValueId Builder::cast(ValueId x, DType dtype) {
  if (type(x).dtype == dtype) return x;
  return emit(Op::cast, {x}, {Type{dtype, type(x).shape}}, {});
}

ValueId Builder::reduce(Op op, ValueId x, std::vector<std::int64_t> axes) {
  Expects(category(op) == OpCategory::reduce);
  if (axes.empty()) return x;
  std::sort(axes.begin(), axes.end());
  return emit(op, {x}, {}, {std::move(axes), 0, {}});
}

ValueId Builder::broadcast(ValueId x, Shape shape) {
  Expects(shape.size() >= type(x).shape.size());
  if (type(x).shape.size() < shape.size()) {
    Shape longer(shape.size() - type(x).shape.size(), 1);
    longer.insert(longer.end(), type(x).shape.begin(), type(x).shape.end());
    x = reshape(x, std::move(longer));
  }
  if (type(x).shape == shape) return x;
  return emit(Op::broadcast, {x}, {Type{type(x).dtype, std::move(shape)}}, {});
}

ValueId Builder::reshape(ValueId x, Shape shape) {
  return emit(Op::reshape, {x}, {Type{type(x).dtype, std::move(shape)}}, {});
}

ValueId Builder::transpose(ValueId x, std::vector<std::int64_t> permutation) {
  return emit(Op::transpose, {x}, {}, {std::move(permutation), 0, {}});
}

ValueId Builder::slice(ValueId x, std::vector<std::int64_t> begin_end) {
  return emit(Op::slice, {x}, {}, {std::move(begin_end), 0, {}});
}

ValueId Builder::pad(ValueId x, std::vector<std::int64_t> before_after) {
  return emit(Op::pad, {x}, {}, {std::move(before_after), 0, {}});
}

ValueId Builder::concat(std::vector<ValueId> parts, std::int64_t axis) {
  return emit(Op::concat, std::move(parts), {}, {{axis}, 0, {}});
}

ValueId Builder::windows(ValueId x, std::vector<std::int64_t> axis_size_stride) {
  return emit(Op::windows, {x}, {}, {std::move(axis_size_stride), 0, {}});
}

ValueId Builder::fold(ValueId x, std::vector<std::int64_t> axis_size_stride_extent) {
  return emit(Op::fold, {x}, {}, {std::move(axis_size_stride_extent), 0, {}});
}

ValueId Builder::random(ValueId counter, std::int64_t seed, std::int64_t stream) {
  return emit(Op::random, {counter}, {}, {{seed, stream}, 0, {}});
}

ValueId Builder::matmul(ValueId a, ValueId b, bool trans_a, bool trans_b, DType result) {
  return emit(Op::matmul, {a, b}, {Type{result, {}}}, {{trans_a ? 1 : 0, trans_b ? 1 : 0}, 0, {}});
}

ValueId Builder::gather_rows(ValueId table, ValueId index) {
  return emit(Op::gather_rows, {table, index}, {}, {});
}

ValueId Builder::scatter_add_rows(ValueId index, ValueId rows, std::int64_t num_rows) {
  return emit(Op::scatter_add_rows, {index, rows}, {}, {{num_rows}, 0, {}});
}

ValueId Builder::argmax_last(ValueId x) {
  return emit(Op::argmax_last, {x}, {}, {});
}

std::vector<ValueId> Builder::all_reduce(std::vector<ValueId> xs, std::string axis, std::int64_t bucket) {
  const ValueId first = emit(Op::all_reduce, std::move(xs), {}, {{bucket}, 0, std::move(axis)});
  return graph_.node(*graph_.value(first).producer).results;
}

}  // namespace dtj::ir
