#include "compiler/codegen/shared_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include <gsl/assert>
#include <gsl/narrow>

#include "compiler/codegen/arena.hpp"

namespace dtj::codegen {
namespace {

using plan::Arena;
using plan::BufferClass;
using plan::BufferId;

/// A port's buffers while they are found one by one.
using Slots = std::vector<std::optional<BufferId>>;

std::optional<BufferId>& slot(Slots& slots, std::size_t index) {
  if (slots.size() <= index) slots.resize(index + 1);
  return slots[index];
}

Result<std::vector<BufferId>> all_of(const Slots& slots, std::string_view what) {
  std::vector<BufferId> buffers;
  for (const auto& buffer : slots) {
    if (!buffer) return fail(ErrorCode::internal, fmt::format("{} {} appears in no program", what, buffers.size()));
    buffers.push_back(*buffer);
  }
  return buffers;
}

class SharedLayout {
 public:
  SharedLayout(const PlanInput& input, plan::ExecutionPlan& plan) : input_(input), plan_(plan) {}

  Result<SharedBuffers> run() {
    lay_out_persistent();
    for (const auto* graph : {&input_.micro_only, &input_.micro_first, &input_.micro_middle, &input_.micro_last})
      if (*graph) DTJ_TRY(lay_out_reductions(**graph));
    for (const auto* graph : {&input_.micro_only, &input_.micro_first, &input_.micro_middle, &input_.micro_last})
      if (*graph) lay_out_ports(**graph, train_metrics_, train_batch_);
    if (input_.evaluate) lay_out_ports(*input_.evaluate, eval_metrics_, eval_batch_);
    lay_out_ports(input_.update, train_metrics_, train_batch_);
    lay_out_fields(input_.job.train_data, train_batch_);
    if (input_.job.eval_data) lay_out_fields(*input_.job.eval_data, eval_batch_);
    return finish();
  }

 private:
  BufferId add(std::string name, const ir::Type& type, BufferClass cls, Arena arena) {
    return append_buffer(plan_, {std::move(name), type.dtype, type.shape, cls, arena, 0, size_of(type)});
  }

  void lay_out_persistent() {
    for (const auto& tensor : input_.params) {
      shared_.params.push_back(add(tensor.name, tensor.type, BufferClass::param, Arena::persistent));
      plan_.tensors.push_back({shared_.params.back(), tensor.init});
    }
    for (const auto& tensor : input_.buffers) {
      shared_.module_buffers.push_back(add(tensor.name, tensor.type, BufferClass::module_buffer, Arena::persistent));
      plan_.tensors.push_back({shared_.module_buffers.back(), tensor.init});
    }
    for (const auto& tensor : input_.states) {
      shared_.states.push_back(add(tensor.name, tensor.type, BufferClass::optimizer, Arena::persistent));
      plan_.tensors.push_back({shared_.states.back(), tensor.init});
    }
  }

  void ensure(std::optional<BufferId>& buffer, const std::string& name, const ir::Type& type, BufferClass cls,
              Arena arena) {
    if (!buffer) buffer = add(name, type, cls, arena);
  }

  std::string gradient_name(std::uint32_t index) const {
    return "gradient." + (index < input_.params.size() ? input_.params[index].name : std::to_string(index));
  }

  void ensure_port(ir::Port port, std::uint32_t index, const std::string& name, const ir::Type& type, Slots& metrics,
                   Slots& batch) {
    switch (port) {
      case ir::Port::gradient:
        return ensure(slot(gradients_, index), gradient_name(index), type, BufferClass::gradient, Arena::gradient);
      case ir::Port::metric:
        return ensure(slot(metrics, index), name, type, BufferClass::metric, Arena::gradient);
      case ir::Port::learning_rate:
        return ensure(slot(learning_rate_, 0), name, type, BufferClass::metric, Arena::gradient);
      case ir::Port::gradient_norm:
        return ensure(slot(gradient_norm_, 0), name, type, BufferClass::metric, Arena::gradient);
      case ir::Port::batch:
        return ensure(slot(batch, index), name, type, BufferClass::batch, Arena::batch);
      case ir::Port::step:
        return ensure(slot(step_, 0), name, type, BufferClass::batch, Arena::batch);
      case ir::Port::sample:
        return ensure(slot(sample_, 0), name, type, BufferClass::batch, Arena::batch);
      case ir::Port::param:
      case ir::Port::state:
      case ir::Port::buffer:
      case ir::Port::plain:
        return;
    }
  }

  void lay_out_ports(const ir::Graph& graph, Slots& metrics, Slots& batch) {
    const std::string prefix = &metrics == &eval_metrics_ ? "eval." : "";
    for (const auto& input : graph.inputs())
      ensure_port(input.port, input.index, prefix + input.name, graph.type(input.value), metrics, batch);
    for (const auto& output : graph.outputs())
      ensure_port(output.port, output.index, prefix + output.name, graph.type(output.value), metrics, batch);
  }

  /// The loader fills every field, also those that no program reads.
  void lay_out_fields(const DataSpec& data, Slots& batch) {
    const std::string prefix = &batch == &eval_batch_ ? "eval.batch." : "batch.";
    for (std::size_t i = 0; i < data.fields.size(); ++i) {
      ir::Type type{data.fields[i].dtype, data.fields[i].sample_shape};
      type.shape.insert(type.shape.begin(), data.micro_batch);
      ensure(slot(batch, i), prefix + data.fields[i].name, type, BufferClass::batch, Arena::batch);
    }
  }

  /// The operands of one all_reduce lie side by side in its order, so that the collective is one range. The gaps of the
  /// alignment are zero from the start and sums of zeros stay zero.
  Status lay_out_reductions(const ir::Graph& graph) {
    auto& reductions = shared_.reductions[&graph];
    for (const auto& node : graph.nodes()) {
      if (node.op != ir::Op::all_reduce) continue;
      SharedReduction reduction;
      for (const auto result : node.results) reduction.slots.push_back(slot_of(graph, result));
      if (input_.job.mesh.dp > 1) {
        reduction.collective = plan::CollectiveId{gsl::narrow<std::uint32_t>(plan_.collectives.size())};
        plan_.collectives.push_back(make_collective(reduction.slots.front(), reduction.slots.back()));
      }
      reductions.push_back(std::move(reduction));
    }
    return {};
  }

  /// A gradient or a metric is reduced where it stays; a value that the program goes on with has a place of its own.
  BufferId slot_of(const ir::Graph& graph, ir::ValueId result) {
    const auto output =
        std::find_if(graph.outputs().begin(), graph.outputs().end(), [&](const ir::Output& candidate) {
          const bool is_shared = candidate.port == ir::Port::gradient || candidate.port == ir::Port::metric;
          return is_shared && storage_root(graph, candidate.value) == result;
        });
    if (output == graph.outputs().end())
      return add(fmt::format("{}.sum.%{}", graph.name, result.value), graph.type(result), BufferClass::scratch,
                 Arena::gradient);
    ensure_port(output->port, output->index, output->name, graph.type(output->value), train_metrics_, train_batch_);
    return *slot(output->port == ir::Port::gradient ? gradients_ : train_metrics_, output->index);
  }

  plan::Collective make_collective(BufferId first, BufferId last) {
    const auto& begin = plan_.buffers[first.value];
    const auto& end = plan_.buffers[last.value];
    plan::Collective collective;
    collective.dtype = begin.dtype;
    collective.offset = begin.offset;
    collective.count = (end.offset + end.size - begin.offset) / gsl::narrow<std::int64_t>(dtj::size_of(begin.dtype));
    if (begin.cls == BufferClass::metric) {
      collective.name = fmt::format("metrics ({})", begin.name);
    } else if (begin.cls == BufferClass::scratch) {
      collective.name = begin.name;
    } else {
      collective.name = fmt::format("bucket {} ({}{})", num_buckets_++, begin.name.substr(begin.name.find('.') + 1),
                                    first == last ? "" : ", ...");
    }
    return collective;
  }

  Result<SharedBuffers> finish() {
    shared_.gradients = gradients_;
    DTJ_TRY_ASSIGN(shared_.train_metrics, all_of(train_metrics_, "metric"));
    DTJ_TRY_ASSIGN(shared_.eval_metrics, all_of(eval_metrics_, "metric of the evaluation"));
    DTJ_TRY_ASSIGN(shared_.train_batch, all_of(train_batch_, "field"));
    DTJ_TRY_ASSIGN(shared_.eval_batch, all_of(eval_batch_, "field of the evaluation"));
    DTJ_TRY_ASSIGN(shared_.step, all_of(step_, "step"));
    DTJ_TRY_ASSIGN(shared_.sample, all_of(sample_, "sample number"));
    DTJ_TRY_ASSIGN(shared_.learning_rate, all_of(learning_rate_, "learning rate"));
    DTJ_TRY_ASSIGN(shared_.gradient_norm, all_of(gradient_norm_, "gradient norm"));
    const auto scalar = [](const std::vector<BufferId>& buffers) {
      return buffers.empty() ? std::nullopt : std::optional(buffers.front());
    };
    plan_.ports = {shared_.train_batch,          shared_.eval_batch,   shared_.train_metrics,
                   shared_.eval_metrics,         scalar(shared_.step), scalar(shared_.learning_rate),
                   scalar(shared_.gradient_norm), scalar(shared_.sample)};
    return std::move(shared_);
  }

  const PlanInput& input_;
  plan::ExecutionPlan& plan_;
  SharedBuffers shared_;
  Slots gradients_, train_metrics_, eval_metrics_, train_batch_, eval_batch_, step_, sample_, learning_rate_, gradient_norm_;
  std::size_t num_buckets_ = 0;
};

}  // namespace

std::int64_t size_of(const ir::Type& type) {
  return num_elements(type.shape) * gsl::narrow<std::int64_t>(dtj::size_of(type.dtype));
}

ir::ValueId storage_root(const ir::Graph& graph, ir::ValueId value) {
  while (const auto producer = graph.value(value).producer) {
    const auto& node = graph.node(*producer);
    if (node.op != ir::Op::reshape) break;
    value = node.operands[0];
  }
  return value;
}

BufferId append_buffer_at(plan::ExecutionPlan& plan, plan::Buffer buffer, std::int64_t offset) {
  buffer.offset = offset;
  plan.buffers.push_back(std::move(buffer));
  return {gsl::narrow<std::uint32_t>(plan.buffers.size() - 1)};
}

BufferId append_buffer(plan::ExecutionPlan& plan, plan::Buffer buffer) {
  auto& end = plan.arena_bytes[static_cast<std::size_t>(buffer.arena)];
  const std::int64_t offset = end;
  end = align_up(offset + buffer.size);
  return append_buffer_at(plan, std::move(buffer), offset);
}

Result<SharedBuffers> lay_out_shared(const PlanInput& input, plan::ExecutionPlan& plan) {
  return SharedLayout(input, plan).run();
}

Result<BufferId> SharedBuffers::find(ProgramRole role, ir::Port port, std::uint32_t index) const {
  const auto pick = [&]() -> const std::vector<BufferId>* {
    switch (port) {
      case ir::Port::param:
        return &params;
      case ir::Port::state:
        return &states;
      case ir::Port::gradient:
        return nullptr;
      case ir::Port::batch:
        return role == ProgramRole::evaluate ? &eval_batch : &train_batch;
      case ir::Port::metric:
        return role == ProgramRole::evaluate ? &eval_metrics : &train_metrics;
      case ir::Port::step:
        return &step;
      case ir::Port::sample:
        return &sample;
      case ir::Port::buffer:
        return &module_buffers;
      case ir::Port::learning_rate:
        return &learning_rate;
      case ir::Port::gradient_norm:
        return &gradient_norm;
      case ir::Port::plain:
        return nullptr;
    }
    return nullptr;
  };
  if (port == ir::Port::gradient && index < gradients.size() && gradients[index]) return *gradients[index];
  const auto* buffers = pick();
  if (buffers == nullptr || index >= buffers->size())
    return fail(ErrorCode::internal,
                fmt::format("a program has no buffer {} of port {}", index, static_cast<int>(port)));
  return (*buffers)[index];
}

}  // namespace dtj::codegen
