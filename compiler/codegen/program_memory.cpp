#include "compiler/codegen/program_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <gsl/assert>
#include <gsl/narrow>

namespace dtj::codegen {
namespace {

using plan::BufferId;

class MemoryPlanner {
 public:
  MemoryPlanner(const ir::Graph& graph, ProgramRole role, const SharedBuffers& shared, plan::ExecutionPlan& plan)
      : graph_(graph),
        role_(role),
        shared_(shared),
        plan_(plan),
        end_(2 * (static_cast<Time>(graph.nodes().size()) + 1)) {}

  Result<ProgramMemory> run() {
    for (std::uint32_t i = 0; i < graph_.num_values(); ++i) root_.push_back(storage_root(graph_, ir::ValueId{i}));
    memory_.buffers.resize(graph_.num_values());
    reads_.resize(graph_.num_values());
    DTJ_TRY(bind_inputs());
    collect_reads();
    DTJ_TRY(bind_reductions());
    bind_constants();
    DTJ_TRY(bind_outputs());
    bind_reduction_operands();
    make_units();
    memory_.transient_bytes = place(memory_.intervals);
#ifndef NDEBUG
    Ensures(!find_conflict(memory_.intervals));
#endif
    add_transient_buffers();
    for (std::size_t i = 0; i < root_.size(); ++i) memory_.buffers[i] = buffer_of(root_[i]);
    finish_copies();
    return std::move(memory_);
  }

 private:
  std::optional<BufferId>& buffer_of(ir::ValueId root) {
    return memory_.buffers[root.value];
  }
  ir::ValueId root_of(ir::ValueId value) const {
    return root_[value.value];
  }
  std::vector<Time>& reads_of(ir::ValueId root) {
    return reads_[root.value];
  }
  const ir::Node* producer(ir::ValueId value) const {
    const auto id = graph_.value(value).producer;
    return id ? &graph_.node(*id) : nullptr;
  }
  Time produced_at(ir::ValueId root) const {
    const auto id = graph_.value(root).producer;
    return id ? time_of(*id) : 0;
  }
  Time last_read(ir::ValueId root) {
    const auto& reads = reads_of(root);
    return reads.empty() ? produced_at(root) : *std::max_element(reads.begin(), reads.end());
  }

  Status bind_inputs() {
    for (const auto& input : graph_.inputs()) {
      DTJ_TRY_ASSIGN(const BufferId buffer, shared_.find(role_, input.port, input.index));
      DTJ_TRY(check_size(input.value, buffer, input.name));
      buffer_of(input.value) = buffer;
      old_value_.emplace(buffer.value, input.value);
    }
    return {};
  }

  Status check_size(ir::ValueId value, BufferId buffer, const std::string& name) const {
    const auto& found = plan_.buffers[buffer.value];
    const auto& type = graph_.type(value);
    if (found.dtype == type.dtype && found.size == size_of(type)) return {};
    return fail(ErrorCode::internal,
                fmt::format("{} of program {} does not fit its buffer {}", name, graph_.name, found.name));
  }

  void collect_reads() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto& node = graph_.nodes()[i];
      if (node.op == ir::Op::reshape) continue;
      if (node.op == ir::Op::all_reduce) {
        for (const auto operand : node.operands) ++reduced_[root_of(operand).value];
        continue;
      }
      for (const auto operand : node.operands) reads_of(root_of(operand)).push_back(time_of(ir::NodeId{i}));
    }
  }

  /// A collective may start once its operands are there and the old contents of its bucket are not needed. A bucket of
  /// outputs waits until nobody reads them unreduced; a sum that the program goes on with does not, and what is read
  /// unreduced later is copied.
  Status bind_reductions() {
    const auto found = shared_.reductions.find(&graph_);
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto& node = graph_.nodes()[i];
      if (node.op != ir::Op::all_reduce) continue;
      const std::size_t number = memory_.reductions.size();
      if (found == shared_.reductions.end() || number >= found->second.size())
        return fail(ErrorCode::internal, fmt::format("program {} has an all_reduce without a place", graph_.name));
      const SharedReduction& shared = found->second[number];
      BucketReduction reduction{ir::NodeId{i}, 0, shared.slots, shared.collective};
      bool is_read = false;
      for (std::size_t j = 0; j < node.results.size(); ++j) {
        buffer_of(node.results[j]) = shared.slots[j];
        is_read = is_read || !reads_of(node.results[j]).empty();
        if (const auto old = old_value_.find(shared.slots[j].value); old != old_value_.end())
          reduction.start = std::max(reduction.start, last_read(old->second));
      }
      for (const auto operand : node.operands) {
        const auto root = root_of(operand);
        reduction.start = std::max(reduction.start, is_read ? produced_at(root) : last_read(root));
      }
      ++reduction.start;
      memory_.reductions.push_back(std::move(reduction));
    }
    for (const auto& reduction : memory_.reductions)
      for (const auto operand : graph_.node(reduction.node).operands)
        reads_of(root_of(operand)).push_back(reduction.start);
    return {};
  }

  void bind_constants() {
    for (const auto& node : graph_.nodes()) {
      if (ir::category(node.op) != ir::OpCategory::leaf) continue;
      const auto value = node.results[0];
      const auto& type = graph_.type(value);
      plan::Buffer buffer{fmt::format("%{}", value.value), type.dtype, type.shape,   plan::BufferClass::constant,
                          plan::Arena::constant,           0,          size_of(type)};
      buffer_of(value) = append_buffer(plan_, std::move(buffer));
    }
  }

  /// Whether the value may be produced right in `target`: nobody needs what lies there at that time.
  bool can_bind(ir::ValueId root, BufferId target) {
    const auto* node = producer(root);
    const auto& type = graph_.type(root);
    const auto& found = plan_.buffers[target.value];
    if (node == nullptr || buffer_of(root) || found.dtype != type.dtype || found.size != size_of(type)) return false;
    const auto old = old_value_.find(target.value);
    if (old == old_value_.end() || last_read(old->second) < produced_at(root)) return true;
    return last_read(old->second) == produced_at(root) && overwrites(*node, old->second, root);
  }

  /// Whether the kernel of `node` may write `result` over the storage `victim`, which it reads.
  bool overwrites(const ir::Node& node, ir::ValueId victim, ir::ValueId result) const {
    if (node.op != ir::Op::fused) return false;
    const auto position = std::find(node.results.begin(), node.results.end(), result) - node.results.begin();
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      if (root_of(node.operands[i]) == victim && !can_overwrite(node, i, static_cast<std::size_t>(position)))
        return false;
    return true;
  }

  Status bind_outputs() {
    std::vector<std::pair<ir::ValueId, BufferId>> wishes;
    for (const auto& output : graph_.outputs()) {
      DTJ_TRY_ASSIGN(const BufferId target, shared_.find(role_, output.port, output.index));
      DTJ_TRY(check_size(output.value, target, output.name));
      const auto root = root_of(output.value);
      if (buffer_of(root) == target) continue;  // an input that stays as it is, or a reduced value in its slot
      const bool is_asked_for =
          std::any_of(wishes.begin(), wishes.end(), [&](const auto& wish) { return wish.first == root; });
      if (buffer_of(root) || is_asked_for) {
        copy_at_end(root, target);
      } else {
        wishes.emplace_back(root, target);
      }
    }
    for (const auto& [root, target] : wishes) {
      if (can_bind(root, target)) {
        buffer_of(root) = target;
      } else {
        copy_at_end(root, target);
      }
    }
    return {};
  }

  void copy_at_end(ir::ValueId root, BufferId target) {
    copies_.emplace_back(root, target);
    reads_of(root).push_back(end_);
  }

  void bind_reduction_operands() {
    for (const auto& reduction : memory_.reductions) {
      const auto& operands = graph_.node(reduction.node).operands;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto root = root_of(operands[i]);
        // A value that is wanted unreduced, or in two places, keeps memory of its own and is copied into the bucket.
        const bool is_private = reduced_[root.value] == 1 && last_read(root) == reduction.start;
        if (is_private && can_bind(root, reduction.slots[i])) buffer_of(root) = reduction.slots[i];
      }
    }
  }

  /// Values that share one piece of the transient arena, one after the other.
  void make_units() {
    for (const auto& node : graph_.nodes()) {
      if (node.op == ir::Op::reshape) continue;
      for (const auto result : node.results) {
        if (buffer_of(result)) continue;
        const auto unit = unit_to_take_over(node, result);
        if (unit) {
          memory_.intervals[*unit].last = last_read(result);
          unit_.insert_or_assign(result.value, *unit);
        } else {
          unit_.emplace(result.value, memory_.intervals.size());
          memory_.intervals.push_back({size_of(graph_.type(result)), produced_at(result), last_read(result), 0});
        }
      }
    }
    stage_copies();
  }

  std::optional<std::size_t> unit_to_take_over(const ir::Node& node, ir::ValueId result) {
    if (node.op != ir::Op::fused) return std::nullopt;
    const auto& type = graph_.type(result);
    for (const auto operand : node.operands) {
      const auto root = root_of(operand);
      const auto unit = unit_.find(root.value);
      // When another result has taken the operand's unit, that unit lives on and its end shows it.
      if (unit == unit_.end() || memory_.intervals[unit->second].last != produced_at(result)) continue;
      if (is_taken(node, unit->second)) continue;
      const auto& old = graph_.type(root);
      if (size_of(old) != size_of(type) || dtj::size_of(old.dtype) != dtj::size_of(type.dtype)) continue;
      if (overwrites(node, root, result)) return unit->second;
    }
    return std::nullopt;
  }

  bool is_taken(const ir::Node& node, std::size_t unit) const {
    return std::any_of(node.results.begin(), node.results.end(), [&](ir::ValueId other) {
      const auto found = unit_.find(other.value);
      return found != unit_.end() && found->second == unit;
    });
  }

  void add_transient_buffers() {
    const auto cls = role_ == ProgramRole::update ? plan::BufferClass::scratch : plan::BufferClass::activation;
    for (const auto& [value, unit] : unit_) {
      const auto& type = graph_.type(ir::ValueId{value});
      plan::Buffer buffer{fmt::format("%{}", value), type.dtype, type.shape,   cls,
                          plan::Arena::transient,    0,          size_of(type)};
      memory_.buffers[value] = append_buffer_at(plan_, std::move(buffer), memory_.intervals[unit].offset);
    }
  }

  /// A final copy from a buffer that another final copy overwrites goes through a stage (two states that change
  /// places).
  void stage_copies() {
    for (const auto& [root, target] : copies_) {
      const auto from = buffer_of(root);
      const bool is_overwritten =
          from && std::any_of(copies_.begin(), copies_.end(), [&](const auto& other) { return other.second == *from; });
      if (!is_overwritten || stages_.contains(root.value)) continue;
      stages_.emplace(root.value, memory_.intervals.size());
      memory_.intervals.push_back({size_of(graph_.type(root)), end_, end_, 0});
    }
  }

  void finish_copies() {
    std::map<std::uint32_t, BufferId> stage_buffers;
    for (const auto& [value, unit] : stages_) {
      const auto& type = graph_.type(ir::ValueId{value});
      plan::Buffer buffer{fmt::format("stage of %{}", value),
                          type.dtype,
                          type.shape,
                          plan::BufferClass::scratch,
                          plan::Arena::transient,
                          0,
                          size_of(type)};
      stage_buffers.emplace(value, append_buffer_at(plan_, std::move(buffer), memory_.intervals[unit].offset));
    }
    for (const auto& [root, target] : copies_) {
      const auto stage = stage_buffers.find(root.value);
      memory_.final_copies.push_back({buffer_of(root).value(), target,
                                      stage == stage_buffers.end() ? std::nullopt : std::optional(stage->second)});
    }
  }

  const ir::Graph& graph_;
  ProgramRole role_;
  const SharedBuffers& shared_;
  plan::ExecutionPlan& plan_;
  Time end_;
  ProgramMemory memory_;
  std::vector<ir::ValueId> root_;                         // by value
  std::vector<std::vector<Time>> reads_;                  // by root
  std::map<std::uint32_t, ir::ValueId> old_value_;        // buffer -> the input that lies there at the start
  std::map<std::uint32_t, int> reduced_;                  // root -> in how many places of buckets it goes
  std::vector<std::pair<ir::ValueId, BufferId>> copies_;  // root -> target, at the end
  std::map<std::uint32_t, std::size_t> unit_;             // root -> interval
  std::map<std::uint32_t, std::size_t> stages_;           // root -> interval
};

}  // namespace

Result<ProgramMemory> plan_memory(const ir::Graph& graph, ProgramRole role, const SharedBuffers& shared,
                                  plan::ExecutionPlan& plan) {
  return MemoryPlanner(graph, role, shared, plan).run();
}

}  // namespace dtj::codegen
