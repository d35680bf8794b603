#include "compiler/passes/autodiff/vjp.hpp"

#include <algorithm>

namespace dtj::passes {

using ir::Op;

bool passes_gradient(Op op) {
  switch (op) {
    case Op::constant:
    case Op::iota:
    case Op::random:
    case Op::floor:
    case Op::sign:
    case Op::logical_not:
    case Op::stop_gradient:
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::logical_and:
    case Op::logical_or:
    case Op::argmax_last:
    case Op::fused:
      return false;
    case Op::neg:
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::tanh:
    case Op::erf:
    case Op::sin:
    case Op::cos:
    case Op::abs:
    case Op::cast:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::pow:
    case Op::maximum:
    case Op::minimum:
    case Op::select:
    case Op::reduce_sum:
    case Op::reduce_max:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::slice:
    case Op::pad:
    case Op::concat:
    case Op::windows:
    case Op::fold:
    case Op::matmul:
    case Op::gather_rows:
    case Op::scatter_add_rows:
    case Op::all_reduce:
      return true;
  }
  return false;
}

DType gradient_dtype(const ir::Graph& graph, ir::ValueId value) {
  const DType own = graph.type(value).dtype;
  ir::ValueId source = value;
  while (const auto producer = graph.value(source).producer) {
    const ir::Node& node = graph.node(*producer);
    const bool moves =
        node.op == Op::reshape || node.op == Op::transpose || node.op == Op::broadcast || node.op == Op::slice;
    if ((!moves && node.op != Op::cast) || !is_float(graph.type(node.operands[0]).dtype)) return own;
    source = node.operands[0];
  }
  const auto& inputs = graph.inputs();
  const bool is_param = std::any_of(inputs.begin(), inputs.end(), [&](const ir::Input& input) {
    return input.value == source && input.port == ir::Port::param;
  });
  return is_param && own != DType::f64 ? DType::f32 : own;
}

void vjp(VjpCall& call) {
  if (ir::category(call.node.op) == ir::OpCategory::elementwise)
    vjp_elementwise(call);
  else
    vjp_structure(call);
}

}  // namespace dtj::passes
