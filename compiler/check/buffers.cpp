#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// Buffers of modules inside a trace: an input, then whatever `forward` assigned last.

namespace dtj::check {

namespace {

/// By tensor: whether the ranks may hold different values, because each has samples of its own.
std::vector<bool> find_varying(const Trace& trace) {
  std::vector<bool> varies(trace.tensors.size(), false);
  for (const TraceInput& input : trace.inputs)
    varies[input.tensor] = input.kind == InputKind::batch || input.kind == InputKind::sample;
  for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
    const TracedTensor& tensor = trace.tensors[i];
    if (tensor.op == TraceOp::all_mean) continue;
    for (const TensorRef operand : tensor.operands) varies[i] = varies[i] || varies[operand];
  }
  return varies;
}

}  // namespace

Value Interpreter::use_buffer(const BufferSlot& slot, source::Range range) {
  if (auto known = recording_->buffers.find(slot.index); known != recording_->buffers.end()) {
    Value value = known->second;
    value.range = range;
    return value;
  }
  Value value = emit_input(InputKind::buffer, slot.index, slot.dtype, slot.dims, false, range);
  recording_->buffers[slot.index] = value;
  return value;
}

std::optional<BufferSlot> Interpreter::find_buffer(const ast::Expr& target, const ScopePtr& scope) {
  std::optional<Value> found;
  if (const auto* name = std::get_if<ast::NameRef>(&target.node)) found = find(name->name, scope);
  if (const auto* member = std::get_if<ast::Field>(&target.node);
      member && std::holds_alternative<ast::SelfRef>(member->base->node)) {
    for (ScopePtr place = scope; place && !found; place = place->parent)
      if (auto instance = place->instance.lock()) found = find_here(member->name.text, instance->members);
  }
  const auto* slot = found ? found->as<BufferSlot>() : nullptr;
  return slot ? std::optional(*slot) : std::nullopt;
}

void Interpreter::assign_buffer(const BufferSlot& slot, const ast::Assign& assign, Value value, source::Range range) {
  const std::string name = text_of(assign.target->range);
  const bool is_objective = is_recording() && recording_->trace.name != "update";
  if (!is_objective) {
    report(diag::Kind::cannot_assign, assign.target->range, fmt::format("the buffer `{}` cannot be assigned here", name))
        .note("a buffer changes in `forward`, when the objective is trained");
    return;
  }
  if (!recording_->training) {
    report(diag::Kind::training_only, assign.target->range,
           fmt::format("the buffer `{}` is assigned in an evaluation", name))
        .note("an evaluation leaves the model as it is")
        .help(fmt::format("write `if training {{ {} = ...; }};`", name));
    return;
  }
  const Value before = use_buffer(slot, assign.target->range);
  if (assign.op != ast::AssignOp::set) {
    const auto op = assign.op == ast::AssignOp::add   ? ast::BinaryOp::add
                    : assign.op == ast::AssignOp::sub ? ast::BinaryOp::sub
                                                      : ast::BinaryOp::mul;
    value = binary(op, before, value, range);
  }
  if (value.is_poison() || before.is_poison()) return;
  if (!fits_place(fmt::format("the buffer `{}`", name), *as_tensor(before), value, assign.value->range)) return;
  value.range = assign.value->range;
  recording_->buffers[slot.index] = std::move(value);
}

void Interpreter::output_buffers() {
  Trace& trace = recording_->trace;
  if (!recording_->training) return;
  const std::vector<bool> varies = find_varying(trace);
  for (const auto& [index, value] : recording_->buffers) {
    const auto* tensor = as_tensor(value);
    if (!tensor || trace.tensors[tensor->ref].op == TraceOp::input) continue;
    if (varies[tensor->ref]) {
      report(diag::Kind::differs_between_ranks, value.range,
             fmt::format("the buffer `{}` would differ between the ranks: its value depends on their own samples",
                         buffers[index].name))
          .label(buffers[index].range, "declared here")
          .help("average it over the ranks: `all_mean(...)`");
      continue;
    }
    trace.outputs.push_back({tensor->ref, OutputKind::buffer, index});
  }
}

}  // namespace dtj::check
