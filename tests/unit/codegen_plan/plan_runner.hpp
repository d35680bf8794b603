#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gsl/assert>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/ir/graph.hpp"
#include "engine/run/executor.hpp"
#include "tests/support/interpreter.hpp"

// Runs programs of a plan with the real executor, and reads and writes its buffers as tensors of the interpreter.

namespace dtj::test {

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

inline double read_element(DType dtype, const std::byte* at) {
  const auto as = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::f32:
      return as(float{});
    case DType::f64:
      return as(double{});
    case DType::bf16:
      return bf16_to_f32(as(std::uint16_t{}));
    case DType::f16:
      return f16_to_f32(as(std::uint16_t{}));
    case DType::i32:
      return as(std::int32_t{});
    case DType::i64:
      return static_cast<double>(as(std::int64_t{}));
    case DType::u8:
    case DType::boolean:
      return as(std::uint8_t{});
    case DType::u16:
      return as(std::uint16_t{});
  }
  return 0;
}

inline void write_element(DType dtype, std::byte* at, double number) {
  const auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (dtype) {
    case DType::f32:
      return put(static_cast<float>(number));
    case DType::f64:
      return put(number);
    case DType::bf16:
      return put(f32_to_bf16(static_cast<float>(number)));
    case DType::f16:
      return put(f32_to_f16(static_cast<float>(number)));
    case DType::i32:
      return put(static_cast<std::int32_t>(number));
    case DType::i64:
      return put(static_cast<std::int64_t>(number));
    case DType::u8:
    case DType::boolean:
      return put(static_cast<std::uint8_t>(number));
    case DType::u16:
      return put(static_cast<std::uint16_t>(number));
  }
}

/// Where the ports of a plan's programs lie. Parameters come before states in ExecutionPlan::tensors; gradients are
/// found by their names.
class PlanPorts {
 public:
  explicit PlanPorts(const plan::ExecutionPlan& plan) : plan_(plan) {
    for (const auto& tensor : plan.tensors)
      (buffer(tensor.buffer).cls == plan::BufferClass::param ? params_ : states_).push_back(tensor.buffer);
    for (const auto param : params_) gradients_.push_back(find("gradient." + buffer(param).name));
  }

  plan::BufferId at(ir::Port port, std::uint32_t index, bool evaluates) const {
    const auto& ports = plan_.ports;
    switch (port) {
      case ir::Port::param:
        return params_.at(index);
      case ir::Port::state:
        return states_.at(index);
      case ir::Port::gradient:
        return gradients_.at(index);
      case ir::Port::batch:
        return (evaluates ? ports.eval_batch : ports.train_batch).at(index);
      case ir::Port::metric:
        return (evaluates ? ports.eval_metrics : ports.train_metrics).at(index);
      case ir::Port::step:
        return ports.step.value();
      case ir::Port::learning_rate:
        return ports.learning_rate.value();
      case ir::Port::gradient_norm:
        return ports.gradient_norm.value();
      case ir::Port::plain:
      case ir::Port::buffer:
      case ir::Port::sample:
        break;
    }
    throw std::runtime_error("the programs of these tests have no such port");
  }
  const plan::Buffer& buffer(plan::BufferId id) const { return plan_.buffers.at(id.value); }

 private:
  plan::BufferId find(const std::string& name) const {
    for (std::uint32_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.buffers[i].name == name) return {i};
    throw std::runtime_error("no buffer " + name);
  }

  const plan::ExecutionPlan& plan_;
  std::vector<plan::BufferId> params_, states_, gradients_;
};

/// One rank.
class PlanRunner {
 public:
  PlanRunner(const plan::ExecutionPlan& plan, std::unique_ptr<comm::Communicator> communicator, int num_threads = 2)
      : ports_(plan),
        communicator_(std::move(communicator)),
        device_(value_or_throw(device::make_host_device({num_threads, {}}))),
        loader_(value_or_throw(codegen::make_host_kernel_loader())),
        executor_(value_or_throw(run::Executor::create(plan, *device_, *communicator_, *loader_, nullptr))) {}

  void write(plan::BufferId id, const Tensor& tensor) {
    const auto& buffer = ports_.buffer(id);
    Expects(num_elements(buffer.shape) == static_cast<std::int64_t>(tensor.values.size()));
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      write_element(buffer.dtype, executor_->data(id) + i * size_of(buffer.dtype), tensor.values[i]);
  }
  Tensor read(plan::BufferId id) {
    const auto& buffer = ports_.buffer(id);
    Tensor tensor{{buffer.dtype, buffer.shape}, {}};
    for (std::int64_t i = 0; i < num_elements(buffer.shape); ++i)
      tensor.values.push_back(
          read_element(buffer.dtype, executor_->data(id) + static_cast<std::size_t>(i) * size_of(buffer.dtype)));
    return tensor;
  }
  /// The program's inputs as they lie in the buffers now.
  std::vector<Tensor> read_inputs(const ir::Graph& graph, bool evaluates = false) {
    std::vector<Tensor> inputs;
    for (const auto& input : graph.inputs()) {
      inputs.push_back(read(ports_.at(input.port, input.index, evaluates)));
      inputs.back().type = graph.type(input.value);
    }
    return inputs;
  }
  Tensor read_output(const ir::Output& output, bool evaluates = false) {
    return read(ports_.at(output.port, output.index, evaluates));
  }
  void run(const plan::Program& program) {
    if (auto status = executor_->run(program); !status) throw std::runtime_error(status.error().to_string());
  }
  const PlanPorts& ports() const { return ports_; }

 private:
  PlanPorts ports_;
  std::unique_ptr<comm::Communicator> communicator_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::KernelLoader> loader_;
  std::unique_ptr<run::Executor> executor_;
};

}  // namespace dtj::test
