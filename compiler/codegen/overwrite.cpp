#include <algorithm>
#include <vector>

#include <gsl/assert>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/codegen/program_memory.hpp"

namespace dtj::codegen {
namespace {

std::vector<bool> values_that_depend_on(const ir::Graph& region, ir::ValueId input) {
  std::vector<bool> depends(region.num_values(), false);
  depends[input.value] = true;
  for (const auto& node : region.nodes()) {
    const bool reads = std::any_of(node.operands.begin(), node.operands.end(),
                                   [&](ir::ValueId value) { return depends[value.value]; });
    for (const auto result : node.results) depends[result.value] = reads;
  }
  return depends;
}

template <class Predicate>
bool any_reader(const ir::Graph& region, const std::vector<bool>& depends, Predicate predicate) {
  return std::any_of(region.nodes().begin(), region.nodes().end(), [&](const ir::Node& node) {
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](ir::ValueId value) { return depends[value.value]; }) &&
           predicate(node);
  });
}

/// A flat kernel goes through its elements once. Element i of every result may depend on the operand's element i alone:
/// the operand reaches the results through element-wise ops and reshapes only, and all results have its size.
bool is_read_in_step(const ir::Graph& region, const ir::Input& input, const std::vector<bool>& depends) {
  const auto elements = [&](ir::ValueId value) { return num_elements(region.type(value).shape); };
  const bool is_one_loop = std::all_of(region.outputs().begin(), region.outputs().end(), [&](const ir::Output& output) {
    return elements(output.value) == elements(input.value);
  });
  return is_one_loop && !any_reader(region, depends, [](const ir::Node& node) {
           return ir::category(node.op) != ir::OpCategory::elementwise && node.op != ir::Op::reshape;
         });
}

}  // namespace

bool can_overwrite(const ir::Node& fused, std::size_t operand, std::size_t result) {
  Expects(fused.op == ir::Op::fused && fused.region && operand < fused.operands.size() &&
          result < fused.results.size());
  const ir::Graph& region = *fused.region;
  const auto& input = region.inputs()[operand];
  const auto depends = values_that_depend_on(region, input.value);
  if (fused.attrs.text == "elementwise" && !is_read_in_step(region, input, depends)) return false;
  // A reduction reads its operand in a pass of its own over the row.
  const auto is_reduction = [](const ir::Node& node) { return ir::category(node.op) == ir::OpCategory::reduce; };
  if (any_reader(region, depends, is_reduction)) return false;
  return can_run_in_place(fused, operand, result);
}

}  // namespace dtj::codegen
