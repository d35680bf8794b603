#include <algorithm>
#include <vector>

#include <gsl/assert>

#include "compiler/codegen/program_memory.hpp"

namespace dtj::codegen {

// A flat kernel goes through its elements once, and reads all operands at an element before it writes results there.
// That makes it safe to overwrite an operand which reaches the results through element-wise ops and reshapes only.
bool can_overwrite(const ir::Node& fused, std::size_t operand) {
  Expects(fused.op == ir::Op::fused && fused.region && operand < fused.operands.size());
  if (fused.attrs.text != "elementwise") return false;
  const ir::Graph& region = *fused.region;
  const auto& input = region.inputs()[operand];
  const auto elements = [&](ir::ValueId value) { return num_elements(region.type(value).shape); };
  // Results of other sizes would need loops of their own.
  const bool one_loop = std::all_of(region.outputs().begin(), region.outputs().end(), [&](const ir::Output& output) {
    return elements(output.value) == elements(input.value);
  });
  if (!one_loop) return false;

  std::vector<bool> depends(region.num_values(), false);
  depends[input.value.value] = true;
  for (const auto& node : region.nodes()) {
    const bool reads = std::any_of(node.operands.begin(), node.operands.end(),
                                   [&](ir::ValueId value) { return depends[value.value]; });
    if (!reads) continue;
    if (ir::category(node.op) != ir::OpCategory::elementwise && node.op != ir::Op::reshape) return false;
    for (const auto result : node.results) depends[result.value] = true;
  }
  return true;
}

}  // namespace dtj::codegen
