#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "tests/support/interpreter.hpp"

namespace dtj::test {

struct GradientCheckOptions {
  double tolerance = 1e-6;
  double step = 1e-3;       ///< of the five-point central difference, whose error is O(step^4)
  bool whole_list = false;  ///< run all passes before fusion, not autodiff alone
};

/// Checks the gradient of (metric, 0) to every f32 param of `objective`, element by element, at `inputs`: reverse mode
/// against central differences, both in f64, with REQUIRE. The error is relative to the largest element of the
/// parameter's gradient.
void check_gradients(const ir::Graph& objective, const std::vector<Tensor>& inputs,
                     const GradientCheckOptions& options = {});

/// A builder over a graph whose params get random values, and which ends in one scalar.
class Objective {
  ir::Graph graph_;  // first: `build` refers to it

 public:
  explicit Objective(std::uint64_t seed) : build(graph_), seed_(seed) {}
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;

  ir::Builder build;

  /// Uniform in [low, high).
  ir::ValueId param(Shape shape, double low = -2, double high = 2);
  /// An input of the batch with given values; no gradient.
  ir::ValueId data(ir::Type type, std::vector<double> values);
  ir::ValueId random_data(Shape shape, double low = -2, double high = 2);
  /// loss = sum of y times random weights, so that every element of y counts differently. Then checks.
  void check(ir::ValueId y, const GradientCheckOptions& options = {});
  /// `loss` is a scalar already.
  void check_loss(ir::ValueId loss, const GradientCheckOptions& options = {});

  const std::vector<Tensor>& inputs() const { return inputs_; }

 private:
  ir::ValueId add(Tensor tensor, ir::Port port, std::uint32_t index);

  std::vector<Tensor> inputs_;
  std::uint64_t seed_;
  std::uint32_t num_params_ = 0;
  std::uint32_t num_data_ = 0;
};

}  // namespace dtj::test
