#include "compiler/codegen/emit_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include <gsl/assert>
#include <gsl/narrow>

#include "compiler/codegen/program_memory.hpp"

namespace dtj::codegen {
namespace {

using plan::BufferId;

struct MatmulDims {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
};

MatmulDims dims_of(const ir::Node& node, const ir::Graph& graph) {
  const Shape& a = graph.type(node.operands[0]).shape;
  const Shape& c = graph.type(node.results[0]).shape;
  const auto rank = c.size();
  MatmulDims dims;
  for (std::size_t i = 0; i + 2 < rank; ++i) dims.batch *= c[i];
  dims.m = c[rank - 2];
  dims.n = c[rank - 1];
  dims.k = node.attrs.ints.at(0) != 0 ? a[rank - 2] : a[rank - 1];
  return dims;
}

class ProgramEmitter {
 public:
  ProgramEmitter(const ir::Graph& graph, const PlanInput& input, HostKernelCompiler& kernels, ProgramMemory memory,
                 plan::ExecutionPlan& plan)
      : graph_(graph), input_(input), kernels_(kernels), memory_(std::move(memory)), plan_(plan) {}

  Result<plan::Program> run(const std::string& name) {
    program_.name = name;
    program_.transient_bytes = memory_.transient_bytes;
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto& node = graph_.nodes()[i];
      start_reductions(time_of(ir::NodeId{i}));
      wait_for_operands(node);
      if (auto status = emit_node(node); !status) return fail_with(std::move(status.error()), where(node));
    }
    start_reductions(2 * (static_cast<Time>(graph_.nodes().size()) + 2));
    for (std::size_t i = 0; i < memory_.reductions.size(); ++i) wait_for(i);
    copy_outputs();
    return std::move(program_);
  }

 private:
  BufferId buffer_of(ir::ValueId value) const { return memory_.buffers[value.value].value(); }

  plan::SourceLocation locate(const ir::Node& node) const {
    return input_.locate && !node.range.is_none ? input_.locate(node.range) : plan::SourceLocation{};
  }

  std::string where(const ir::Node& node) const {
    const auto source = locate(node);
    return source.file.empty()
               ? label_of(node, graph_)
               : fmt::format("{}, {}:{}:{}", label_of(node, graph_), source.file, source.line, source.column);
  }

  template <class What>
  void push(What what, std::string label, plan::SourceLocation source = {}) {
    program_.steps.push_back({std::move(what), std::move(source), std::move(label)});
  }

  Status emit_node(const ir::Node& node) {
    switch (ir::category(node.op)) {
      case ir::OpCategory::fused:
        return emit_kernel(node);
      case ir::OpCategory::contraction:
        return emit_matmul(node);
      case ir::OpCategory::indexing:
        return emit_builtin(node);
      case ir::OpCategory::leaf:
        return emit_constant(node);
      case ir::OpCategory::collective:
        return {};  // by time, in start_reductions
      case ir::OpCategory::movement:
        if (node.op == ir::Op::reshape) return {};
        break;
      case ir::OpCategory::elementwise:
      case ir::OpCategory::reduce:
        break;
    }
    return fail(ErrorCode::internal, fmt::format("fusion left {} alone", ir::to_string(node.op)));
  }

  Status emit_kernel(const ir::Node& node) {
    DTJ_TRY_ASSIGN(const KernelUse use, kernels_.add(node, graph_));
    plan::KernelStep step{use.kernel, {}, use.extent, use.work_items, use.grain};
    for (const auto operand : node.operands) step.args.push_back(buffer_of(operand));
    for (const auto result : node.results) step.args.push_back(buffer_of(result));
    push(std::move(step), label_of(node, graph_), locate(node));
    return {};
  }

  Status emit_matmul(const ir::Node& node) {
    const auto dtype = graph_.type(node.operands[0]).dtype;
    if (dtype != DType::f32 && dtype != DType::bf16)
      return fail(ErrorCode::unimplemented, fmt::format("matrix products of {} run on no device", to_string(dtype)));
    const auto dims = dims_of(node, graph_);
    if (dims.batch * dims.m * dims.n == 0) return {};
    const auto c = buffer_of(node.results[0]);
    if (dims.k == 0) {
      push(plan::FillZeroStep{c}, label_of(node, graph_), locate(node));
      return {};
    }
    plan::GemmStep step;
    step.a = buffer_of(node.operands[0]);
    step.b = buffer_of(node.operands[1]);
    step.c = c;
    step.trans_a = node.attrs.ints.at(0) != 0;
    step.trans_b = node.attrs.ints.at(1) != 0;
    step.batch = dims.batch;
    step.m = dims.m;
    step.n = dims.n;
    step.k = dims.k;
    step.lda = step.trans_a ? dims.m : dims.k;
    step.ldb = step.trans_b ? dims.k : dims.n;
    step.ldc = dims.n;
    step.stride_a = dims.m * dims.k;
    step.stride_b = dims.k * dims.n;
    step.stride_c = dims.m * dims.n;
    push(step, label_of(node, graph_), locate(node));
    return {};
  }

  Status emit_builtin(const ir::Node& node) {
    plan::BuiltinStep step;
    switch (node.op) {
      case ir::Op::gather_rows:
        step.op = plan::BuiltinOp::gather_rows;
        break;
      case ir::Op::scatter_add_rows:
        step.op = plan::BuiltinOp::scatter_add_rows;
        break;
      case ir::Op::argmax_last:
        step.op = plan::BuiltinOp::argmax_last;
        break;
      default:
        return fail(ErrorCode::internal, fmt::format("no builtin for {}", ir::to_string(node.op)));
    }
    for (const auto operand : node.operands) step.args.push_back(matrix_view(operand));
    for (const auto result : node.results) step.args.push_back(matrix_view(result));
    push(std::move(step), label_of(node, graph_), locate(node));
    return {};
  }

  /// Builtins read the shapes of matrices from the buffers: one that has another shape gets a second name.
  BufferId matrix_view(ir::ValueId value) {
    const auto id = buffer_of(value);
    const Shape& shape = graph_.type(value).shape;
    if (shape.size() != 2 || plan_.buffers[id.value].shape == shape) return id;
    plan::Buffer view = plan_.buffers[id.value];
    view.shape = shape;
    view.cls = plan::BufferClass::scratch;
    view.name = fmt::format("view of {}", view.name);
    const auto offset = view.offset;
    return append_buffer_at(plan_, std::move(view), offset);
  }

  Status emit_constant(const ir::Node& node) {
    plan_.constant_buffers.push_back(buffer_of(node.results[0]));
    plan_.constants.push_back(constant_bytes(node, graph_.type(node.results[0])));
    return {};
  }

  /// Those that can start before the node of time `now`.
  void start_reductions(Time now) {
    for (std::size_t i = 0; i < memory_.reductions.size(); ++i) {
      const auto& reduction = memory_.reductions[i];
      if (reduction.start > now || started_.contains(i)) continue;
      started_.insert(i);
      const auto& node = graph_.node(reduction.node);
      for (std::size_t j = 0; j < node.operands.size(); ++j) {
        const auto from = buffer_of(node.operands[j]);
        if (from != reduction.slots[j])
          push(plan::CopyStep{from, reduction.slots[j]},
               fmt::format("copy into {}", plan_.buffers[reduction.slots[j].value].name));
      }
      if (!reduction.collective) continue;
      const auto& name = plan_.collectives.at(reduction.collective->value).name;
      push(plan::CollectiveStartStep{*reduction.collective}, fmt::format("start all_reduce {}", name));
    }
  }

  void wait_for(std::size_t i) {
    const auto collective = memory_.reductions[i].collective;
    if (!collective || !waited_.insert(i).second) return;
    push(plan::CollectiveWaitStep{*collective},
         fmt::format("wait all_reduce {}", plan_.collectives.at(collective->value).name));
  }

  void wait_for_operands(const ir::Node& node) {
    for (const auto operand : node.operands) {
      const auto root = storage_root(graph_, operand);
      for (std::size_t i = 0; i < memory_.reductions.size(); ++i) {
        const auto& results = graph_.node(memory_.reductions[i].node).results;
        if (std::find(results.begin(), results.end(), root) != results.end()) wait_for(i);
      }
    }
  }

  void copy_outputs() {
    for (const auto& copy : memory_.final_copies)
      if (copy.stage) push(plan::CopyStep{copy.from, *copy.stage}, fmt::format("set {} aside", name_of(copy.from)));
    for (const auto& copy : memory_.final_copies)
      push(plan::CopyStep{copy.stage.value_or(copy.from), copy.to}, fmt::format("copy into {}", name_of(copy.to)));
  }

  const std::string& name_of(BufferId id) const { return plan_.buffers[id.value].name; }

  const ir::Graph& graph_;
  const PlanInput& input_;
  HostKernelCompiler& kernels_;
  ProgramMemory memory_;
  plan::ExecutionPlan& plan_;
  plan::Program program_;
  std::set<std::size_t> started_, waited_;
};

}  // namespace

std::string label_of(const ir::Node& node, const ir::Graph& graph) {
  if (node.op == ir::Op::matmul) {
    const auto dims = dims_of(node, graph);
    const std::string sizes = fmt::format("{}x{}x{}", dims.m, dims.n, dims.k);
    return dims.batch == 1 ? "matmul " + sizes : fmt::format("matmul {} of {}", dims.batch, sizes);
  }
  if (node.op != ir::Op::fused || !node.region) return std::string(ir::to_string(node.op));
  constexpr std::size_t most = 6;
  std::vector<std::string_view> names;
  for (const auto& inner : node.region->nodes()) {
    const auto name = ir::to_string(inner.op);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  const bool is_cut = names.size() > most;
  if (is_cut) names.resize(most);
  return fmt::format("fused({}{})", fmt::join(names, ","), is_cut ? ",..." : "");
}

Result<plan::Program> emit_program(const ir::Graph& graph, const std::string& name, ProgramRole role,
                                   const PlanInput& input, const SharedBuffers& shared, HostKernelCompiler& kernels,
                                   plan::ExecutionPlan& plan) {
  DTJ_TRY_ASSIGN(ProgramMemory memory, plan_memory(graph, role, shared, plan));
  return ProgramEmitter(graph, input, kernels, std::move(memory), plan).run(name);
}

}  // namespace dtj::codegen
