#include "tests/unit/codegen/jit_runner.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/support/catch.hpp"

namespace dtj::test {
namespace {

/// Guard bytes behind every buffer show writes past the end.
constexpr std::size_t guard_size = 64;
constexpr std::byte guard_byte{0xa5};

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}
template <class T>
double get(const std::byte* bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double get_element(DType dtype, const std::byte* bytes, std::size_t i) {
  std::uint16_t half = 0;
  if (dtype == DType::bf16 || dtype == DType::f16) std::memcpy(&half, bytes + 2 * i, 2);
  switch (dtype) {
    case DType::f32:
      return get<float>(bytes, i);
    case DType::f64:
      return get<double>(bytes, i);
    case DType::bf16:
      return bf16_to_f32(half);
    case DType::f16:
      return f16_to_f32(half);
    case DType::i32:
      return get<std::int32_t>(bytes, i);
    case DType::i64:
      return get<std::int64_t>(bytes, i);
    case DType::u8:
      return get<std::uint8_t>(bytes, i);
    case DType::u16:
      return get<std::uint16_t>(bytes, i);
    case DType::boolean:
      return get<std::uint8_t>(bytes, i);
  }
  return 0;
}

void put_element(DType dtype, std::vector<std::byte>& bytes, std::size_t i, double value) {
  switch (dtype) {
    case DType::f32:
      return put(bytes, i, static_cast<float>(value));
    case DType::f64:
      return put(bytes, i, value);
    case DType::bf16:
      return put(bytes, i, f32_to_bf16(static_cast<float>(value)));
    case DType::f16:
      return put(bytes, i, f32_to_f16(static_cast<float>(value)));
    case DType::i32:
      return put(bytes, i, static_cast<std::int32_t>(value));
    case DType::i64:
      return put(bytes, i, static_cast<std::int64_t>(value));
    case DType::u8:
    case DType::boolean:
      return put(bytes, i, static_cast<std::uint8_t>(value));
    case DType::u16:
      return put(bytes, i, static_cast<std::uint16_t>(value));
  }
}

void call(device::KernelFn kernel, const codegen::KernelUse& use, const std::vector<void*>& buffers,
          const JitOptions& options) {
  const std::int64_t step =
      options.items_per_call > 0 ? options.items_per_call : std::max<std::int64_t>(use.work_items, 1);
  std::vector<std::int64_t> begins;
  for (std::int64_t begin = 0; begin < use.work_items; begin += step) begins.push_back(begin);
  if (options.backwards) std::reverse(begins.begin(), begins.end());
  for (const std::int64_t begin : begins)
    kernel(buffers.data(), use.extent, begin, std::min(begin + step, use.work_items));
}

/// Gives each result the memory of the first operand that it may overwrite; `place` by buffer: whose memory it has.
void share_memory(const ir::Node& node, const std::vector<std::vector<std::byte>>& memory,
                  std::vector<std::size_t>& place) {
  std::vector<bool> is_taken(node.operands.size());
  for (std::size_t r = 0; r < node.results.size(); ++r)
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const std::size_t at = node.operands.size() + r;
      if (is_taken[i] || memory[i].size() != memory[at].size() || !codegen::can_run_in_place(node, i, r)) continue;
      is_taken[i] = true;
      place[at] = i;
      break;
    }
}

std::vector<Tensor> run_kernel(device::KernelFn kernel, const codegen::KernelUse& use, const ir::Graph& graph,
                               const ir::Node& node, const std::vector<Tensor>& values, const JitOptions& options) {
  std::vector<std::vector<std::byte>> memory;
  for (const ir::ValueId operand : node.operands) memory.push_back(to_bytes(values[operand.value]));
  for (const ir::ValueId result : node.results) {
    const ir::Type& type = graph.type(result);
    memory.emplace_back(static_cast<std::size_t>(num_elements(type.shape)) * size_of(type.dtype), std::byte{0xff});
  }
  std::vector<void*> buffers;
  for (auto& bytes : memory) {
    bytes.insert(bytes.end(), guard_size, guard_byte);
    buffers.push_back(bytes.data());
  }
  std::vector<std::size_t> place(memory.size());
  std::iota(place.begin(), place.end(), std::size_t{0});
  if (options.in_place) share_memory(node, memory, place);
  for (std::size_t i = 0; i < memory.size(); ++i) buffers[i] = memory[place[i]].data();
  call(kernel, use, buffers, options);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    REQUIRE(std::all_of(memory[i].end() - guard_size, memory[i].end(), [](std::byte b) { return b == guard_byte; }));
    if (i < node.operands.size()) continue;
    results.push_back(from_bytes(graph.type(node.results[i - node.operands.size()]), memory[place[i]].data()));
  }
  return results;
}

/// A node that is not fused, by the interpreter.
std::vector<Tensor> run_node(const ir::Graph& graph, const ir::Node& node, const std::vector<Tensor>& values) {
  ir::Graph single;
  std::vector<ir::ValueId> operands;
  std::vector<Tensor> inputs;
  for (const ir::ValueId operand : node.operands) {
    operands.push_back(single.add_input(graph.type(operand), ir::Port::plain, 0, ""));
    inputs.push_back(values[operand.value]);
  }
  std::vector<ir::Type> types;
  for (const ir::ValueId result : node.results) types.push_back(graph.type(result));
  const ir::NodeId id = single.add_node(node.op, operands, types, node.attrs, {}, nullptr);
  for (const ir::ValueId result : single.node(id).results) single.add_output(result, ir::Port::plain, 0, "");
  InterpretOptions options;
  options.numerics = Numerics::as_typed;
  return interpret(single, inputs, options);
}

}  // namespace

std::vector<std::byte> to_bytes(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.values.size() * size_of(tensor.type.dtype));
  for (std::size_t i = 0; i < tensor.values.size(); ++i) put_element(tensor.type.dtype, bytes, i, tensor.values[i]);
  return bytes;
}

Tensor from_bytes(const ir::Type& type, const std::byte* bytes) {
  Tensor tensor{type, {}};
  for (std::int64_t i = 0; i < num_elements(type.shape); ++i)
    tensor.values.push_back(get_element(type.dtype, bytes, static_cast<std::size_t>(i)));
  return tensor;
}

ir::Graph fuse(ir::Graph graph) {
  passes::fusion(graph, {});
  const Status status = ir::verify(graph);
  INFO((status ? std::string() : status.error().to_string()));
  REQUIRE(status.has_value());
  for (const ir::Node& node : graph.nodes()) {
    const ir::OpCategory category = ir::category(node.op);
    INFO(ir::to_string(node.op));
    REQUIRE(category != ir::OpCategory::leaf);
    REQUIRE(category != ir::OpCategory::elementwise);
    REQUIRE(category != ir::OpCategory::reduce);
    REQUIRE((category != ir::OpCategory::movement || node.op == ir::Op::reshape));
  }
  return graph;
}

std::vector<Tensor> run_jit(const ir::Graph& fused, const std::vector<Tensor>& inputs, const JitOptions& options) {
  auto compiler = options.cpu.empty() ? std::make_unique<codegen::HostKernelCompiler>()
                                      : std::make_unique<codegen::HostKernelCompiler>(options.cpu);
  std::unordered_map<const ir::Node*, codegen::KernelUse> uses;
  for (const ir::Node& node : fused.nodes()) {
    if (node.op != ir::Op::fused) continue;
    auto use = compiler->add(node, fused);
    INFO((use ? std::string() : use.error().to_string() + "\n" + ir::print(*node.region)));
    REQUIRE(use.has_value());
    uses[&node] = *use;
  }
  auto output = compiler->finish(2);
  INFO((output ? std::string() : output.error().to_string()));
  REQUIRE(output.has_value());
  plan::ExecutionPlan plan;
  plan.target = output->target;
  plan.objects = output->objects;
  plan.kernels = output->kernels;
  auto loader = codegen::make_host_kernel_loader();
  REQUIRE(loader.has_value());
  auto kernels = (*loader)->load(plan);
  INFO((kernels ? std::string() : kernels.error().to_string()));
  REQUIRE(kernels.has_value());

  std::vector<Tensor> values(fused.num_values());
  for (std::size_t i = 0; i < inputs.size(); ++i) values[fused.inputs()[i].value.value] = inputs[i];
  for (const ir::Node& node : fused.nodes()) {
    std::vector<Tensor> results;
    if (node.op == ir::Op::fused)
      results = run_kernel((*kernels)[uses.at(&node).kernel.value], uses.at(&node), fused, node, values, options);
    else
      results = run_node(fused, node, values);
    for (std::size_t i = 0; i < results.size(); ++i) values[node.results[i].value] = std::move(results[i]);
  }
  std::vector<Tensor> outputs;
  for (const ir::Output& out : fused.outputs()) outputs.push_back(values[out.value.value]);
  return outputs;
}

int count_fused(const ir::Graph& graph) {
  return static_cast<int>(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                        [](const ir::Node& node) { return node.op == ir::Op::fused; }));
}

int count_fused(const ir::Graph& graph, const std::string& kind) {
  return static_cast<int>(std::count_if(graph.nodes().begin(), graph.nodes().end(), [&](const ir::Node& node) {
    return node.op == ir::Op::fused && node.attrs.text == kind;
  }));
}

double relative_distance(const Tensor& a, const Tensor& b) {
  double scale = 1e-30, distance = 0;
  for (const double x : b.values)
    if (std::isfinite(x)) scale = std::max(scale, std::fabs(x));
  for (std::size_t i = 0; i < b.values.size(); ++i) {
    const double x = a.values[i], y = b.values[i];
    if (std::isfinite(y) && std::isfinite(x)) {
      distance = std::max(distance, std::fabs(x - y) / scale);
    } else if (!(std::isnan(x) && std::isnan(y)) && x != y) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return distance;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (to_bytes(a[i]) != to_bytes(b[i])) return false;
  return true;
}

double check_against_interpreter(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  const ir::Graph fused = fuse(graph);
  const std::vector<Tensor> wanted = interpret(graph, inputs);
  const std::vector<Tensor> regions = interpret(fused, inputs);
  const std::vector<Tensor> whole = run_jit(fused, inputs);
  JitOptions pieces;
  pieces.items_per_call = 3;
  pieces.backwards = true;
  REQUIRE(same_bits(whole, run_jit(fused, inputs, pieces)));
  JitOptions in_place;
  in_place.in_place = true;
  REQUIRE(same_bits(whole, run_jit(fused, inputs, in_place)));
  double distance = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    REQUIRE(relative_distance(regions[i], wanted[i]) < 1e-12);
    distance = std::max(distance, relative_distance(whole[i], wanted[i]));
  }
  return distance;
}

}  // namespace dtj::test
