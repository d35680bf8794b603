#include "tests/property/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/passes/passes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"

namespace dtj::test {
namespace {

std::size_t output_position(const ir::Graph& graph, ir::Port port, std::uint32_t index) {
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    if (graph.outputs()[i].port == port && graph.outputs()[i].index == index) return i;
  FAIL("the graph has no such output");
  return 0;
}

double loss_at(const ir::Graph& objective, const std::vector<Tensor>& inputs) {
  return interpret(objective, inputs)[output_position(objective, ir::Port::metric, 0)].values[0];
}

/// (f(x-2h) - 8 f(x-h) + 8 f(x+h) - f(x+2h)) / 12h, where x is an element of `inputs`.
double central_difference(const ir::Graph& objective, const std::vector<Tensor>& inputs, double& x, double step) {
  const double at = x;
  const auto f = [&](double offset) {
    x = at + offset * step;
    return loss_at(objective, inputs);
  };
  const double slope = (f(-2) - 8 * f(-1) + 8 * f(1) - f(2)) / (12 * step);
  x = at;
  return slope;
}

ir::Graph differentiate(const ir::Graph& objective, const GradientCheckOptions& options) {
  ir::Graph graph = objective;
  passes::PassContext ctx;
  if (!options.whole_list) {
    passes::autodiff(graph, ctx);
  } else {
    ctx.reduce_gradients = true;
    const auto status = passes::run(graph, passes::Pipeline::train_micro, ctx, {"", "parallel", {}});
    INFO((status ? std::string() : status.error().to_string()));
    REQUIRE(status.has_value());
  }
  const auto status = ir::verify(graph);
  INFO((status ? std::string() : status.error().to_string()));
  REQUIRE(status.has_value());
  return graph;
}

}  // namespace

void check_gradients(const ir::Graph& objective, const std::vector<Tensor>& inputs,
                     const GradientCheckOptions& options) {
  const ir::Graph graph = differentiate(objective, options);
  const std::vector<Tensor> outputs = interpret(graph, inputs);
  for (std::size_t i = 0; i < objective.inputs().size(); ++i) {
    const ir::Input& input = objective.inputs()[i];
    if (input.port != ir::Port::param) continue;
    const Tensor& gradient = outputs[output_position(graph, ir::Port::gradient, input.index)];
    REQUIRE(gradient.type == ir::Type{DType::f32, objective.type(input.value).shape});

    std::vector<Tensor> moved = inputs;
    double largest = 1e-3, error = 0;
    for (std::size_t k = 0; k < gradient.values.size(); ++k) {
      const double numeric = central_difference(objective, moved, moved[i].values[k], options.step);
      REQUIRE(std::isfinite(gradient.values[k]));
      largest = std::max(largest, std::fabs(numeric));
      error = std::max(error, std::fabs(numeric - gradient.values[k]));
    }
    INFO("gradient of param " << input.index << " in\n" << ir::print(objective));
    REQUIRE(error <= options.tolerance * largest);
  }
}

ir::ValueId Objective::add(Tensor tensor, ir::Port port, std::uint32_t index) {
  const ir::ValueId value = graph_.add_input(tensor.type, port, index,
                                             std::string(port == ir::Port::param ? "p" : "x") + std::to_string(index));
  inputs_.push_back(std::move(tensor));
  return value;
}

ir::ValueId Objective::param(Shape shape, double low, double high) {
  const std::uint64_t own_seed = seed_ * 100 + inputs_.size();
  return add(random_tensor({DType::f32, std::move(shape)}, own_seed, low, high), ir::Port::param, num_params_++);
}

ir::ValueId Objective::data(ir::Type type, std::vector<double> values) {
  return add({std::move(type), std::move(values)}, ir::Port::batch, num_data_++);
}

ir::ValueId Objective::random_data(Shape shape, double low, double high) {
  const std::uint64_t own_seed = seed_ * 100 + inputs_.size();
  return add(random_tensor({DType::f32, std::move(shape)}, own_seed, low, high), ir::Port::batch, num_data_++);
}

void Objective::check(ir::ValueId y, const GradientCheckOptions& options) {
  const Shape shape = build.type(y).shape;
  const ir::ValueId weighted = build.binary(ir::Op::mul, build.cast(y, DType::f32), random_data(shape));
  std::vector<std::int64_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  check_loss(build.reshape(build.reduce(ir::Op::reduce_sum, weighted, axes), {}), options);
}

void Objective::check_loss(ir::ValueId loss, const GradientCheckOptions& options) {
  graph_.add_output(loss, ir::Port::metric, 0, "loss");
  check_gradients(graph_, inputs_, options);
}

}  // namespace dtj::test
