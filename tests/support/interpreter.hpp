#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.hpp"

// The reference evaluation of the IR: slow, obvious, one function per op category. The judge of every kernel.

namespace dtj::test {

/// Every element as a double: exact for all dtypes but i64 beyond 2^53. Row-major.
struct Tensor {
  ir::Type type;
  std::vector<double> values;
};

enum class Numerics : std::uint8_t {
  f64,       ///< every float, of whatever dtype, is computed and kept in double; a cast between floats does nothing
  as_typed,  ///< the result of every op is rounded to its dtype; inside one op (reduction, matmul, scatter) sums are
             ///< double
};

struct InterpretOptions {
  Numerics numerics = Numerics::f64;
  std::int64_t num_ranks = 1;  ///< all_reduce multiplies by it, as if every rank held the same values
};

/// `value` as `dtype` holds it: rounded to nearest even; integers wrap; bool is 0 or 1.
double round_to(DType dtype, double value);

/// The outputs in the order of the graph's. The inputs must have the types of the graph's inputs.
std::vector<Tensor> interpret(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                              const InterpretOptions& options = {});

/// As `interpret`, but every value of the graph, by ValueId.
std::vector<Tensor> interpret_all(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                  const InterpretOptions& options = {});

}  // namespace dtj::test
