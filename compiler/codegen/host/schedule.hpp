#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/codegen/host/loop_nest.hpp"

namespace dtj::codegen {

/// When each part of a nest runs. A nest with reductions makes several passes over its reduced dims: pass p computes
/// the reductions and results that need only reductions of earlier passes.
struct Schedule {
  std::vector<std::uint64_t> dims;  ///< per expression: bit d = varies with iteration dim d
  std::vector<int> pass;            ///< per expression: the first pass that can compute it
  std::vector<int> weight;          ///< per expression: about how many vector instructions, with its arguments
  int num_passes = 1;
  std::vector<std::vector<std::uint32_t>> reductions;  ///< per pass
  std::vector<std::vector<std::uint32_t>> results;     ///< per pass: full results
  /// Per expression: kept in memory for the length of one row from this pass on, because computing it again costs more.
  std::vector<std::optional<int>> cached_from;
  bool has_strided_loads = false;  ///< along the vector dim
  bool has_f64 = false;
  int weight_per_element = 0;  ///< of all passes together
};

Schedule make_schedule(const LoopNest& nest);

/// True if result `result` may share the memory of input `input`: every element is read where it is written, and never
/// after it has been written.
bool can_share_memory(const LoopNest& nest, const Schedule& schedule, std::uint32_t input, std::uint32_t result);

}  // namespace dtj::codegen
