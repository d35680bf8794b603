#include "compiler/lower/lower.hpp"

#include <optional>
#include <string>

#include <gsl/assert>

#include "compiler/lower/constructs.hpp"

namespace dtj::lower {
namespace {

ir::ValueId lower_construct(ir::Builder& builder, const Construct& construct) {
  using check::TraceOp;
  const auto& tensor = construct.tensor;
  switch (tensor.op) {
    case TraceOp::constant:
      return builder.constant({tensor.type.dtype, tensor.type.shape}, tensor.number);
    case TraceOp::iota:
      return builder.iota({tensor.type.dtype, tensor.type.shape}, 0);
    case TraceOp::neg:
    case TraceOp::exp:
    case TraceOp::log:
    case TraceOp::sqrt:
    case TraceOp::rsqrt:
    case TraceOp::tanh:
    case TraceOp::erf:
    case TraceOp::sin:
    case TraceOp::cos:
    case TraceOp::abs:
    case TraceOp::floor:
    case TraceOp::sign:
    case TraceOp::logical_not:
    case TraceOp::stop_gradient:
    case TraceOp::add:
    case TraceOp::sub:
    case TraceOp::mul:
    case TraceOp::div:
    case TraceOp::pow:
    case TraceOp::maximum:
    case TraceOp::minimum:
    case TraceOp::eq:
    case TraceOp::ne:
    case TraceOp::lt:
    case TraceOp::le:
    case TraceOp::gt:
    case TraceOp::ge:
    case TraceOp::logical_and:
    case TraceOp::logical_or:
      return lower_elementwise(builder, construct);
    case TraceOp::where:
      return lower_where(builder, construct);
    case TraceOp::cast:
      return builder.cast(construct.operands.at(0), tensor.type.dtype);
    case TraceOp::sum:
    case TraceOp::mean:
    case TraceOp::max:
    case TraceOp::min:
      return lower_reduction(builder, construct);
    case TraceOp::argmax:
      return lower_argmax(builder, construct);
    case TraceOp::einsum:
      return lower_einsum(builder, construct);
    case TraceOp::rearrange:
      return lower_rearrange(builder, construct);
    case TraceOp::reshape:
      return reshape_to(builder, construct.operands.at(0), tensor.type.shape);
    case TraceOp::transpose:
      return transpose_to(builder, construct.operands.at(0), tensor.ints);
    case TraceOp::broadcast_to:
      return builder.broadcast(construct.operands.at(0), tensor.type.shape);
    case TraceOp::slice:
      return builder.slice(construct.operands.at(0), tensor.ints);
    case TraceOp::concat:
      return builder.concat(construct.operands, tensor.ints.at(0));
    case TraceOp::pad:
      return builder.pad(construct.operands.at(0), tensor.ints);
    case TraceOp::windows:
      return builder.windows(construct.operands.at(0), tensor.ints);
    case TraceOp::random:
      return lower_random(builder, construct);
    case TraceOp::all_mean:
      return lower_all_mean(builder, construct);
    case TraceOp::gather_rows:
      return lower_gather(builder, construct);
    case TraceOp::input:
      break;
  }
  Expects(false && "inputs are made before the constructs");
  return {};
}

struct Naming {
  ir::Port port = ir::Port::plain;
  std::string name;
};

Naming name_input(const check::TraceInput& input, const check::CheckedJob& job, const std::vector<FieldSpec>& fields) {
  switch (input.kind) {
    case check::InputKind::param:
      return {ir::Port::param, job.params.at(input.index).name};
    case check::InputKind::state:
      return {ir::Port::state, job.states.at(input.index).name};
    case check::InputKind::gradient:
      return {ir::Port::gradient, "gradient." + job.params.at(input.index).name};
    case check::InputKind::batch:
      return {ir::Port::batch, "batch." + fields.at(input.index).name};
    case check::InputKind::step:
      return {ir::Port::step, "step"};
    case check::InputKind::buffer:
      return {ir::Port::buffer, job.buffers.at(input.index).name};
    case check::InputKind::weight:
      return {ir::Port::metric, "metric.weight"};
    case check::InputKind::sample:
      return {ir::Port::sample, "sample"};
  }
  return {};
}

Naming name_output(const check::TraceOutput& output, const check::CheckedJob& job) {
  switch (output.kind) {
    case check::OutputKind::metric:
      return {ir::Port::metric, "metric." + job.spec.metrics.at(output.index)};
    case check::OutputKind::param:
      return {ir::Port::param, job.params.at(output.index).name};
    case check::OutputKind::state:
      return {ir::Port::state, job.states.at(output.index).name};
    case check::OutputKind::buffer:
      return {ir::Port::buffer, job.buffers.at(output.index).name};
    case check::OutputKind::learning_rate:
      return {ir::Port::learning_rate, "learning_rate"};
    case check::OutputKind::gradient_norm:
      return {ir::Port::gradient_norm, "gradient_norm"};
  }
  return {};
}

ir::Graph lower_trace(const check::Trace& trace, const check::CheckedJob& job, const std::vector<FieldSpec>& fields) {
  ir::Graph graph;
  graph.name = trace.name;
  std::vector<std::optional<ir::ValueId>> values(trace.tensors.size());
  for (const auto& input : trace.inputs) {
    const auto& type = trace.tensors.at(input.tensor).type;
    const auto naming = name_input(input, job, fields);
    values[input.tensor] = graph.add_input({type.dtype, type.shape}, naming.port, input.index, naming.name);
  }

  ir::Builder builder(graph);
  for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
    const auto& tensor = trace.tensors[i];
    if (tensor.op == check::TraceOp::input) continue;
    Construct construct{tensor, {}, job.spec};
    for (const auto operand : tensor.operands) construct.operands.push_back(values.at(operand).value());
    builder.at(tensor.range);
    values[i] = lower_construct(builder, construct);
    const auto& type = builder.type(*values[i]);
    Ensures(type.dtype == tensor.type.dtype && type.shape == tensor.type.shape);
  }

  for (const auto& output : trace.outputs) {
    const auto naming = name_output(output, job);
    graph.add_output(values.at(output.tensor).value(), naming.port, output.index, naming.name);
  }
  return graph;
}

}  // namespace

ir::Graph lower(const check::Trace& trace, const check::CheckedJob& job) {
  const bool is_eval = job.eval_objective && &trace == &*job.eval_objective;
  const auto& data = is_eval && job.spec.eval_data ? *job.spec.eval_data : job.spec.train_data;
  return lower_trace(trace, job, data.fields);
}

LoweredJob lower(const check::CheckedJob& job) {
  LoweredJob lowered;
  lowered.objective = lower(job.train_objective, job);
  if (job.eval_objective) lowered.eval_objective = lower(*job.eval_objective, job);
  lowered.update = lower(job.update, job);
  return lowered;
}

}  // namespace dtj::lower
