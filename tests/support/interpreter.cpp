#include "tests/support/interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <gsl/gsl>
#include <limits>

#include "engine/base/philox.hpp"

namespace dtj::test {
namespace {

using ir::Node;
using ir::Op;
using Index = std::vector<std::int64_t>;
using Operands = std::vector<const Tensor*>;

/// Calls f(index) for every index of the shape, in row-major order.
template <class F>
void for_each_index(const Shape& shape, F f) {
  Index index(shape.size(), 0);
  for (std::int64_t i = num_elements(shape); i > 0; --i) {
    f(index);
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim]) break;
      index[dim] = 0;
    }
  }
}

std::size_t offset(const Shape& shape, const Index& index) {
  std::int64_t at = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) at = at * shape[dim] + index[dim];
  return static_cast<std::size_t>(at);
}

double& at(Tensor& x, const Index& index) {
  return x.values[offset(x.type.shape, index)];
}
double at(const Tensor& x, const Index& index) {
  return x.values[offset(x.type.shape, index)];
}

Tensor zeros(const ir::Type& type) {
  return {type, std::vector<double>(static_cast<std::size_t>(num_elements(type.shape)), 0.0)};
}

double maximum(double a, double b) {
  return std::isnan(a) || a > b ? a : (std::isnan(b) ? b : std::max(a, b));
}

double divide(DType dtype, double a, double b) {
  return is_float(dtype) ? a / b : std::trunc(a / b);
}

double cast_to(DType to, double x) {
  if (to == DType::boolean) return x != 0 ? 1 : 0;
  return is_float(to) ? x : std::trunc(x);
}

double sign(double x) {
  return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0));
}

/// x: the operands' elements; dtype: of the first operand.
double evaluate_element(Op op, DType dtype, DType result, const double* x) {
  switch (op) {
    case Op::neg:
      return -x[0];
    case Op::exp:
      return std::exp(x[0]);
    case Op::log:
      return std::log(x[0]);
    case Op::sqrt:
      return std::sqrt(x[0]);
    case Op::rsqrt:
      return 1.0 / std::sqrt(x[0]);
    case Op::tanh:
      return std::tanh(x[0]);
    case Op::erf:
      return std::erf(x[0]);
    case Op::sin:
      return std::sin(x[0]);
    case Op::cos:
      return std::cos(x[0]);
    case Op::abs:
      return std::fabs(x[0]);
    case Op::floor:
      return std::floor(x[0]);
    case Op::sign:
      return sign(x[0]);
    case Op::logical_not:
      return x[0] == 0 ? 1 : 0;
    case Op::cast:
      return cast_to(result, x[0]);
    case Op::stop_gradient:
      return x[0];
    case Op::add:
      return x[0] + x[1];
    case Op::sub:
      return x[0] - x[1];
    case Op::mul:
      return x[0] * x[1];
    case Op::div:
      return divide(dtype, x[0], x[1]);
    case Op::pow:
      return std::pow(x[0], x[1]);
    case Op::maximum:
      return maximum(x[0], x[1]);
    case Op::minimum:
      return -maximum(-x[0], -x[1]);
    case Op::eq:
      return x[0] == x[1] ? 1 : 0;
    case Op::ne:
      return x[0] != x[1] ? 1 : 0;
    case Op::lt:
      return x[0] < x[1] ? 1 : 0;
    case Op::le:
      return x[0] <= x[1] ? 1 : 0;
    case Op::gt:
      return x[0] > x[1] ? 1 : 0;
    case Op::ge:
      return x[0] >= x[1] ? 1 : 0;
    case Op::logical_and:
      return x[0] != 0 && x[1] != 0 ? 1 : 0;
    case Op::logical_or:
      return x[0] != 0 || x[1] != 0 ? 1 : 0;
    case Op::select:
      return x[0] != 0 ? x[1] : x[2];
    default:
      break;  // the other categories never come here
  }
  Expects(false);
  return 0;
}

double evaluate_random(const Node& node, double x) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
  const auto counter = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  const auto seed = static_cast<std::uint64_t>(node.attrs.ints[0]), stream = static_cast<std::uint64_t>(node.attrs.ints[1]);
  const auto words =
      philox4x32({low(counter), high(counter), low(stream), high(stream)}, {low(seed), high(seed)});
  return (words[0] >> 8) * 0x1p-24;
}

Tensor evaluate_elementwise(const Node& node, const Operands& operands, Tensor out) {
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    double x[3] = {};
    for (std::size_t k = 0; k < operands.size(); ++k) x[k] = operands[k]->values[i];
    out.values[i] = node.op == Op::random
                        ? evaluate_random(node, x[0])
                        : evaluate_element(node.op, operands[0]->type.dtype, out.type.dtype, x);
  }
  return out;
}

Tensor evaluate_leaf(const Node& node, Tensor out) {
  for_each_index(out.type.shape, [&](const Index& index) {
    at(out, index) = node.op == Op::constant ? node.attrs.number
                                             : static_cast<double>(index[static_cast<std::size_t>(node.attrs.ints[0])]);
  });
  return out;
}

Tensor evaluate_reduce(const Node& node, const Tensor& x, Tensor out) {
  const bool is_max = node.op == Op::reduce_max;
  if (is_max) std::fill(out.values.begin(), out.values.end(), -std::numeric_limits<double>::infinity());
  for_each_index(x.type.shape, [&](const Index& index) {
    Index to = index;
    for (const std::int64_t axis : node.attrs.ints) to[static_cast<std::size_t>(axis)] = 0;
    at(out, to) = is_max ? maximum(at(out, to), at(x, index)) : at(out, to) + at(x, index);
  });
  return out;
}

/// The place in `x` that an index of windows(x) reads.
Index place_in_windows(const Index& index, const std::vector<std::int64_t>& ints, std::size_t group) {
  const std::size_t num_dims = index.size() - ints.size() / group;
  Index from(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(num_dims));
  for (std::size_t i = 0; i < ints.size(); i += group) {
    const auto axis = static_cast<std::size_t>(ints[i]);
    from[axis] = index[axis] * ints[i + 2] + index[num_dims + i / group];
  }
  return from;
}

Tensor evaluate_fold(const Node& node, const Tensor& x, Tensor out) {
  for_each_index(x.type.shape,
                 [&](const Index& index) { at(out, place_in_windows(index, node.attrs.ints, 4)) += at(x, index); });
  return out;
}

Tensor evaluate_concat(const Node& node, const Operands& operands, Tensor out) {
  const auto axis = static_cast<std::size_t>(node.attrs.ints[0]);
  std::int64_t begin = 0;
  for (const Tensor* part : operands) {
    for_each_index(part->type.shape, [&](const Index& index) {
      Index to = index;
      to[axis] += begin;
      at(out, to) = at(*part, index);
    });
    begin += part->type.shape[axis];
  }
  return out;
}

Tensor evaluate_movement(const Node& node, const Operands& operands, Tensor out) {
  const Tensor& x = *operands[0];
  const std::vector<std::int64_t>& ints = node.attrs.ints;
  if (node.op == Op::concat) return evaluate_concat(node, operands, std::move(out));
  if (node.op == Op::reshape) {
    out.values = x.values;
    return out;
  }
  if (node.op == Op::pad) {
    for_each_index(x.type.shape, [&](const Index& index) {
      Index to = index;
      for (std::size_t dim = 0; dim < to.size(); ++dim) to[dim] += ints[2 * dim];
      at(out, to) = at(x, index);
    });
    return out;
  }
  for_each_index(out.type.shape, [&](const Index& index) {
    Index from = node.op == Op::windows ? place_in_windows(index, ints, 3) : index;
    for (std::size_t dim = 0; node.op != Op::windows && dim < index.size(); ++dim) {
      if (node.op == Op::broadcast && x.type.shape[dim] == 1) from[dim] = 0;
      if (node.op == Op::transpose) from[static_cast<std::size_t>(ints[dim])] = index[dim];
      if (node.op == Op::slice) from[dim] = index[dim] + ints[2 * dim];
    }
    at(out, index) = at(x, from);
  });
  return out;
}

Tensor evaluate_matmul(const Node& node, const Tensor& a, const Tensor& b, Tensor out) {
  const std::size_t rows = out.type.shape.size() - 2, columns = rows + 1;
  const bool trans_a = node.attrs.ints[0] != 0, trans_b = node.attrs.ints[1] != 0;
  const std::int64_t inner = a.type.shape[trans_a ? rows : columns];
  for_each_index(out.type.shape, [&](const Index& index) {
    Index from_a = index, from_b = index;
    double sum = 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      from_a[rows] = trans_a ? k : index[rows];
      from_a[columns] = trans_a ? index[rows] : k;
      from_b[rows] = trans_b ? index[columns] : k;
      from_b[columns] = trans_b ? k : index[columns];
      sum += at(a, from_a) * at(b, from_b);
    }
    at(out, index) = sum;
  });
  return out;
}

Tensor evaluate_argmax(const Tensor& x, Tensor out) {
  const auto columns = static_cast<std::size_t>(x.type.shape[1]);
  for (std::size_t row = 0; row < out.values.size(); ++row) {
    const auto begin = x.values.begin() + static_cast<std::ptrdiff_t>(row * columns);
    out.values[row] =
        static_cast<double>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(columns)) - begin);
  }
  return out;
}

Tensor evaluate_indexing(const Node& node, const Operands& operands, Tensor out) {
  if (node.op == Op::argmax_last) return evaluate_argmax(*operands[0], std::move(out));
  if (node.op == Op::fold) return evaluate_fold(node, *operands[0], std::move(out));
  const bool is_gather = node.op == Op::gather_rows;
  const Tensor& index = *operands[is_gather ? 1 : 0];
  const Tensor& rows = *operands[is_gather ? 0 : 1];
  const std::int64_t num_rows = is_gather ? rows.type.shape[0] : out.type.shape[0];
  for (std::size_t i = 0; i < index.values.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    const auto row = static_cast<std::int64_t>(index.values[i]);
    Expects(row >= 0 && row < num_rows);
    for (std::int64_t c = 0; c < rows.type.shape[1]; ++c) {
      if (is_gather)
        at(out, {n, c}) = at(rows, {row, c});
      else
        at(out, {row, c}) += at(rows, {n, c});
    }
  }
  return out;
}

void round_all(Tensor& x, Numerics numerics) {
  if (numerics == Numerics::f64 && is_float(x.type.dtype)) return;
  for (double& value : x.values) value = round_to(x.type.dtype, value);
}

std::vector<Tensor> evaluate(const Node& node, const Operands& operands, std::vector<Tensor> out,
                             const InterpretOptions& options) {
  switch (ir::category(node.op)) {
    case ir::OpCategory::leaf:
      out[0] = evaluate_leaf(node, std::move(out[0]));
      break;
    case ir::OpCategory::elementwise:
      out[0] = evaluate_elementwise(node, operands, std::move(out[0]));
      break;
    case ir::OpCategory::reduce:
      out[0] = evaluate_reduce(node, *operands[0], std::move(out[0]));
      break;
    case ir::OpCategory::movement:
      out[0] = evaluate_movement(node, operands, std::move(out[0]));
      break;
    case ir::OpCategory::contraction:
      out[0] = evaluate_matmul(node, *operands[0], *operands[1], std::move(out[0]));
      break;
    case ir::OpCategory::indexing:
      out[0] = evaluate_indexing(node, operands, std::move(out[0]));
      break;
    case ir::OpCategory::collective:
      for (std::size_t i = 0; i < out.size(); ++i)
        for (std::size_t k = 0; k < out[i].values.size(); ++k)
          out[i].values[k] = operands[i]->values[k] * static_cast<double>(options.num_ranks);
      break;
    case ir::OpCategory::fused: {
      std::vector<Tensor> inputs;
      for (const Tensor* operand : operands) inputs.push_back(*operand);
      out = interpret(*node.region, inputs, options);
      break;
    }
  }
  for (Tensor& result : out) round_all(result, options.numerics);
  return out;
}

}  // namespace

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<float>(value);
    case DType::f64:
      return value;
    case DType::bf16:
      return bf16_to_f32(f32_to_bf16(static_cast<float>(value)));
    case DType::f16:
      return f16_to_f32(f32_to_f16(static_cast<float>(value)));
    case DType::i32:
      return static_cast<double>(static_cast<std::int32_t>(static_cast<std::int64_t>(value)));
    case DType::i64:
      return static_cast<double>(static_cast<std::int64_t>(value));
    case DType::u8:
      return static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
    case DType::u16:
      return static_cast<double>(static_cast<std::uint16_t>(static_cast<std::int64_t>(value)));
    case DType::boolean:
      return value != 0 ? 1 : 0;
  }
  return value;
}

std::vector<Tensor> interpret_all(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                  const InterpretOptions& options) {
  Expects(inputs.size() == graph.inputs().size());
  std::vector<Tensor> values(graph.num_values());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::ValueId id = graph.inputs()[i].value;
    Expects(inputs[i].type == graph.type(id));
    Expects(inputs[i].values.size() == static_cast<std::size_t>(num_elements(inputs[i].type.shape)));
    values[id.value] = inputs[i];
    round_all(values[id.value], options.numerics);
  }
  for (const Node& node : graph.nodes()) {
    Operands operands;
    for (const ir::ValueId operand : node.operands) operands.push_back(&values[operand.value]);
    std::vector<Tensor> out;
    for (const ir::ValueId result : node.results) out.push_back(zeros(graph.type(result)));
    out = evaluate(node, operands, std::move(out), options);
    for (std::size_t i = 0; i < out.size(); ++i) values[node.results[i].value] = std::move(out[i]);
  }
  return values;
}

std::vector<Tensor> interpret(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                              const InterpretOptions& options) {
  const std::vector<Tensor> values = interpret_all(graph, inputs, options);
  std::vector<Tensor> outputs;
  for (const ir::Output& output : graph.outputs()) outputs.push_back(values[output.value.value]);
  return outputs;
}

}  // namespace dtj::test
