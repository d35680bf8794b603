#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/codegen/program_memory.hpp"

namespace dtj::test {

/// Walks the program byte by byte: every read must find the value that it means, every output must end in its buffer.
/// Knows nothing of liveness. "" = all well.
class MemoryChecker {
 public:
  MemoryChecker(const ir::Graph& graph, codegen::ProgramRole role, const codegen::SharedBuffers& shared,
                const plan::ExecutionPlan& plan, const codegen::ProgramMemory& memory)
      : graph_(graph), role_(role), shared_(shared), plan_(plan), memory_(memory) {}

  std::string run() {
    for (const auto& input : graph_.inputs()) write(*memory_.buffers[input.value.value], tag(input.value));
    for (std::uint32_t i = 0; i < graph_.nodes().size() && fault_.empty(); ++i) {
      reduce_before(codegen::time_of(ir::NodeId{i}));
      run_node(graph_.nodes()[i]);
    }
    reduce_before(codegen::time_of(ir::NodeId{static_cast<std::uint32_t>(graph_.nodes().size() + 2)}));
    copy_outputs();
    for (const auto& output : graph_.outputs())
      read(shared_.find(role_, output.port, output.index).value(), tag(output.value), "output " + output.name);
    return fault_;
  }

 private:
  using Tag = std::uint32_t;  // the root value

  Tag tag(ir::ValueId value) const { return codegen::storage_root(graph_, value).value; }

  void run_node(const ir::Node& node) {
    if (node.op == ir::Op::reshape || node.op == ir::Op::all_reduce) return;
    for (const auto operand : node.operands) read(*memory_.buffers[operand.value], tag(operand), "an operand");
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const auto result = *memory_.buffers[node.results[i].value];
      for (std::size_t j = 0; j < node.operands.size(); ++j) check_overwrite(node, i, j);
      for (std::size_t j = 0; j < i; ++j)
        if (overlap(result, *memory_.buffers[node.results[j].value])) complain("two results of one node overlap");
      write(result, tag(node.results[i]));
    }
  }

  void check_overwrite(const ir::Node& node, std::size_t number, std::size_t operand) {
    const auto result = *memory_.buffers[node.results[number].value];
    const auto old = *memory_.buffers[node.operands[operand].value];
    if (!overlap(result, old)) return;
    const auto &a = buffer(result), &b = buffer(old);
    if (a.offset != b.offset || a.size != b.size) complain("a result overlaps a part of an operand");
    if (node.op != ir::Op::fused || !codegen::can_overwrite(node, operand, number))
      complain("a result overwrites an operand in use");
  }

  void reduce_before(codegen::Time now) {
    for (const auto& reduction : memory_.reductions) {
      if (reduction.start > now || !reduced_.insert(reduction.node.value).second) continue;
      const auto& node = graph_.node(reduction.node);
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        read(*memory_.buffers[node.operands[i].value], tag(node.operands[i]), "a reduced operand");
        write(reduction.slots[i], tag(node.results[i]));
      }
    }
  }

  void copy_outputs() {
    for (const auto& copy : memory_.final_copies) {
      if (!copy.stage) continue;
      write(*copy.stage, tag_at(copy.from));
    }
    for (const auto& copy : memory_.final_copies) write(copy.to, tag_at(copy.stage.value_or(copy.from)));
  }

  const plan::Buffer& buffer(plan::BufferId id) const { return plan_.buffers[id.value]; }
  bool overlap(plan::BufferId x, plan::BufferId y) const {
    const auto &a = buffer(x), &b = buffer(y);
    return a.arena == b.arena && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
  }
  auto key(plan::BufferId id, std::int64_t byte) const { return std::pair{buffer(id).arena, buffer(id).offset + byte}; }

  Tag tag_at(plan::BufferId id) { return bytes_[key(id, 0)]; }
  void write(plan::BufferId id, Tag value) {
    for (std::int64_t i = 0; i < buffer(id).size; ++i) bytes_[key(id, i)] = value;
  }
  void read(plan::BufferId id, Tag value, const std::string& what) {
    for (std::int64_t i = 0; i < buffer(id).size; ++i) {
      const auto found = bytes_.find(key(id, i));
      if (found == bytes_.end()) return complain(fmt::format("{} (%{}) was never written", what, value));
      if (found->second != value)
        return complain(fmt::format("{} (%{}) was overwritten by %{}", what, value, found->second));
    }
  }
  void complain(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
  }

  const ir::Graph& graph_;
  codegen::ProgramRole role_;
  const codegen::SharedBuffers& shared_;
  const plan::ExecutionPlan& plan_;
  const codegen::ProgramMemory& memory_;
  std::map<std::pair<plan::Arena, std::int64_t>, Tag> bytes_;
  std::set<std::uint32_t> reduced_;
  std::string fault_;
};

}  // namespace dtj::test
