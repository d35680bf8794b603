#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/check/check.hpp"
#include "compiler/lower/lower.hpp"
#include "tests/support/interpreter.hpp"

namespace dtj::test {

/// Builds traces of one function by hand: params in, one metric-like output.
class TraceBuilder {
 public:
  check::TensorRef input(DType dtype, Shape shape) {
    const auto ref = push(check::TraceOp::input, {}, dtype, shape);
    job_.train_objective.inputs.push_back(
        {ref, check::InputKind::param, static_cast<std::uint32_t>(job_.params.size())});
    job_.params.push_back({"p" + std::to_string(job_.params.size()), {dtype, shape}, {}, {}});
    return ref;
  }
  check::TensorRef push(check::TraceOp op, std::vector<check::TensorRef> operands, DType dtype, Shape shape,
                        std::vector<std::int64_t> ints = {}, std::string text = {}) {
    check::TracedTensor tensor;
    tensor.op = op;
    tensor.operands = std::move(operands);
    tensor.type = {dtype, std::move(shape)};
    tensor.ints = std::move(ints);
    tensor.text = std::move(text);
    job_.train_objective.tensors.push_back(std::move(tensor));
    return static_cast<check::TensorRef>(job_.train_objective.tensors.size() - 1);
  }
  check::TracedTensor& at(check::TensorRef ref) { return job_.train_objective.tensors[ref]; }

  /// The graph of the trace with `result` as its output.
  ir::Graph lower(check::TensorRef result) {
    job_.spec.metrics = {"loss"};
    job_.train_objective.outputs = {{result, check::OutputKind::metric, 0}};
    return lower::lower(job_.train_objective, job_);
  }
  check::CheckedJob& job() { return job_; }

 private:
  check::CheckedJob job_;
};

inline int count(const ir::Graph& graph, ir::Op op) {
  int n = 0;
  for (const auto& node : graph.nodes()) n += node.op == op ? 1 : 0;
  return n;
}

inline Tensor tensor(Shape shape, std::vector<double> values, DType dtype = DType::f32) {
  return {{dtype, std::move(shape)}, std::move(values)};
}

/// 1, 2, 3, ...
inline Tensor counting(Shape shape, DType dtype = DType::f32) {
  Tensor result{{dtype, std::move(shape)}, {}};
  for (std::int64_t i = 0; i < num_elements(result.type.shape); ++i)
    result.values.push_back(static_cast<double>(i + 1));
  return result;
}

/// The single output.
inline Tensor evaluate(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  const auto status = ir::verify(graph);
  if (!status) throw std::runtime_error(status.error().to_string());
  return interpret(graph, inputs).at(0);
}

}  // namespace dtj::test
