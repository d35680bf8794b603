#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "engine/device/kernel_loader.hpp"
#include "tests/support/interpreter.hpp"

// Runs graphs through the fusion pass and the JIT, as an engine would, with the interpreter for the ops that are not
// fused.

namespace dtj::test {

struct JitOptions {
  /// Work items per kernel call; 0: all in one call.
  std::int64_t items_per_call = 0;
  /// Calls from the last work items to the first.
  bool backwards = false;
  /// Results share the memory of an operand wherever the compiler says that they can.
  bool in_place = false;
  /// Other than the CPU at hand.
  std::string cpu;
};

/// Elements as a kernel sees them.
std::vector<std::byte> to_bytes(const Tensor& tensor);
Tensor from_bytes(const ir::Type& type, const std::byte* bytes);

/// The graph after the fusion pass, verified.
ir::Graph fuse(ir::Graph graph);
/// The outputs of a fused graph.
std::vector<Tensor> run_jit(const ir::Graph& fused, const std::vector<Tensor>& inputs, const JitOptions& options = {});

/// Number of `fused` nodes, and of those of one kind.
int count_fused(const ir::Graph& graph);
int count_fused(const ir::Graph& graph, const std::string& kind);

/// The largest |a - b| / max |b| over the elements; nan and inf must stand at the same places.
double relative_distance(const Tensor& a, const Tensor& b);
/// True if every element has the same bits.
bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b);
/// Fuses, runs whole, in odd pieces and in place, compares with the interpreter in f64; returns the largest distance.
double check_against_interpreter(const ir::Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace dtj::test
