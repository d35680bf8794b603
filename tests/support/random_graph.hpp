#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "tests/support/interpreter.hpp"

// Random but reproducible tensors and graphs: the same seed gives the same ones on every machine.

namespace dtj::test {

/// Uniform numbers. Steps of 1 for integers; 0 or 1 for bool.
Tensor random_tensor(const ir::Type& type, std::uint64_t seed, double low = -2, double high = 2);

/// One tensor per input. Floats in [-2, 2], rounded to their dtype; integers that index rows stay inside their table,
/// other integers are in [0, 9].
std::vector<Tensor> random_inputs(const ir::Graph& graph, std::uint64_t seed);

/// About `num_nodes` element-wise, reduce and movement nodes over matrices [rows, columns] and their row and column
/// statistics, all f32, with 3 inputs and 2 or more outputs. Values stay finite.
ir::Graph random_graph(std::uint64_t seed, std::int64_t rows, std::int64_t columns, int num_nodes);

}  // namespace dtj::test
