#include "tests/support/random_graph.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/philox.hpp"

namespace dtj::test {
namespace {

using ir::Op;
using ir::ValueId;

/// The number of rows that every gather or scatter through `index` allows.
std::optional<std::int64_t> index_limit(const ir::Graph& graph, ValueId index) {
  std::optional<std::int64_t> limit;
  const auto allow = [&](std::int64_t rows) { limit = std::min(limit.value_or(rows), rows); };
  for (const ir::Node& node : graph.nodes()) {
    if (node.op == Op::gather_rows && node.operands[1] == index) allow(graph.type(node.operands[0]).shape[0]);
    if (node.op == Op::scatter_add_rows && node.operands[0] == index) allow(node.attrs.ints[0]);
    const bool moves = node.op == Op::reshape || node.op == Op::cast;
    if (moves && node.operands[0] == index)
      if (const auto inner = index_limit(graph, node.results[0])) allow(*inner);
  }
  return limit;
}

/// Draws nodes whose values stay near 1, so that no chain of them overflows.
class GraphMaker {
 public:
  GraphMaker(std::uint64_t seed, std::int64_t rows, std::int64_t columns)
      : random_(seed, 77), full_{rows, columns}, build_(graph_) {}

  ir::Graph make(int num_nodes) {
    graph_.name = "random";
    for (std::uint32_t i = 0; i < 3; ++i)
      matrices_.push_back(graph_.add_input({DType::f32, full_}, ir::Port::plain, i, "x" + std::to_string(i)));
    for (int i = 0; i < num_nodes; ++i) matrices_.push_back(step());
    graph_.add_output(matrices_.back(), ir::Port::plain, 0, "last");
    const ValueId summed = pick();
    graph_.add_output(build_.reduce(Op::reduce_sum, summed, {1}), ir::Port::plain, 1, "row_sum");
    graph_.add_output(build_.reduce(Op::reduce_sum, summed, {0}), ir::Port::plain, 2, "column_sum");
    return std::move(graph_);
  }

 private:
  std::uint32_t draw(std::uint32_t below) { return random_.bits(counter_++) % below; }
  ValueId pick() { return matrices_[draw(static_cast<std::uint32_t>(matrices_.size()))]; }
  ValueId number(double value) { return build_.constant({DType::f32, full_}, value); }

  ValueId step() {
    static constexpr double numbers[] = {0.0, 1.0, -1.0, 0.5, 1.5};
    // One statement each: the order of draws must not depend on the compiler.
    const ValueId a = pick();
    const ValueId b = pick();
    const ValueId c = pick();
    const ValueId d = pick();
    const std::uint32_t choice = draw(2);
    const ValueId some_number = number(numbers[draw(5)]);
    switch (draw(12)) {
      case 0:
        return build_.binary(Op::add, a, b);
      case 1:
        return build_.binary(Op::sub, a, b);
      case 2:
        return build_.binary(Op::mul, build_.unary(Op::tanh, a), b);
      case 3:
        return build_.binary(Op::div, a, build_.binary(Op::add, build_.unary(Op::abs, b), number(1.0)));
      case 4:
        return build_.binary(Op::maximum, a, b);
      case 5:
        return build_.unary(Op::neg, a);
      case 6:
        return build_.unary(choice == 0 ? Op::tanh : Op::erf, a);
      case 7:
        return build_.binary(choice == 0 ? Op::add : Op::mul, a, some_number);
      case 8:
        return build_.select(build_.binary(Op::lt, a, b), c, d);
      case 9:
        return build_.binary(Op::sub, a, build_.broadcast(build_.reduce(Op::reduce_max, b, {1}), full_));
      case 10:
        return build_.unary(Op::tanh, build_.broadcast(build_.reduce(Op::reduce_sum, a, {choice}), full_));
      default:
        return shuffle(a, choice == 0);
    }
  }

  /// Movement there and back, by a way that the simplifier should see through.
  ValueId shuffle(ValueId x, bool transposes) {
    if (transposes) return build_.transpose(build_.unary(Op::tanh, build_.transpose(x, {1, 0})), {1, 0});
    return build_.reshape(build_.reshape(x, {full_[0] * full_[1]}), full_);
  }

  PhiloxStream random_;
  std::uint64_t counter_ = 0;
  Shape full_;
  ir::Graph graph_;
  ir::Builder build_;
  std::vector<ValueId> matrices_;
};

}  // namespace

Tensor random_tensor(const ir::Type& type, std::uint64_t seed, double low, double high) {
  const PhiloxStream random(seed, 1);
  Tensor out{type, {}};
  const std::int64_t count = num_elements(type.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    const double unit = random.uniform(static_cast<std::uint64_t>(i));
    double value = low + (high - low) * unit;
    if (type.dtype == DType::boolean) value = unit < 0.5 ? 0 : 1;
    if (is_integer(type.dtype)) value = std::floor(low + (high - low + 1) * unit);
    out.values.push_back(round_to(type.dtype, value));
  }
  return out;
}

std::vector<Tensor> random_inputs(const ir::Graph& graph, std::uint64_t seed) {
  std::vector<Tensor> out;
  for (const ir::Input& input : graph.inputs()) {
    const ir::Type& type = graph.type(input.value);
    const std::uint64_t own_seed = seed * 1000 + out.size();
    if (is_integer(type.dtype))
      out.push_back(
          random_tensor(type, own_seed, 0, static_cast<double>(index_limit(graph, input.value).value_or(10) - 1)));
    else
      out.push_back(random_tensor(type, own_seed));
  }
  return out;
}

ir::Graph random_graph(std::uint64_t seed, std::int64_t rows, std::int64_t columns, int num_nodes) {
  return GraphMaker(seed, rows, columns).make(num_nodes);
}

}  // namespace dtj::test
