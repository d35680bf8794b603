#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.hpp"

// A pass is one function over one graph. pass_list.cpp holds THE list.

namespace dtj::passes {

struct PassContext {
  std::int64_t dp = 1;                        ///< data-parallel degree
  std::int64_t gradient_accumulation = 1;
  std::int64_t bucket_bytes = 4 << 20;
  std::optional<std::uint32_t> weight_metric;  ///< JobSpec::weight_metric
  bool accumulate_into = false;   ///< gradients and metrics are added to `gradient` / `metric` inputs
  bool reduce_gradients = false;  ///< this program ends the step's gradients: insert the collectives
  std::vector<bool> is_frozen = {};  ///< by index of the parameter: it gets no gradient; none beyond the end
};

/// True if it changed the graph.
using PassFunction = bool (*)(ir::Graph&, const PassContext&);

struct Pass {
  std::string_view name;
  PassFunction run;
};

/// For an objective: layout, canonicalize, autodiff, strip_stop_gradient, canonicalize, accumulate, parallel, fusion.
/// For others: without the middle.
enum class Pipeline : std::uint8_t { train_micro, update, evaluate };
const std::vector<Pass>& pass_list(Pipeline pipeline);
std::vector<std::string_view> pass_names();

struct RunOptions {
  std::string print_after;  ///< "" = none, "all", or a pass name
  std::string stop_after;
  std::function<void(std::string_view pass, const std::string& text)> on_print;
};

/// Runs the list; verifies before and after each pass (a broken graph is our own bug: internal error with the pass named).
/// invalid_argument: an option names no pass. A pass that stands in the list twice is printed twice and stops at the first.
Status run(ir::Graph& graph, Pipeline pipeline, const PassContext& ctx, const RunOptions& options);

// ---- the passes ----------------------------------------------------------------------------------------------------

/// Transposes move towards the outputs, so that what follows a matrix product is worked on in the order in which the
/// product lies. Sums are taken in that order too.
bool layout(ir::Graph& graph, const PassContext& ctx);

/// Constant folding, algebraic identities, common subexpressions, dead code; movement of movement merges.
/// Every output keeps its bits, but for the sign of a zero. stop_gradient stays.
bool canonicalize(ir::Graph& graph, const PassContext& ctx);

/// Reverse mode: the graph's output (metric, 0) is the loss; adds one output (gradient, i) for every input (param, i),
/// in f32, of loss / (gradient_accumulation * dp), and scales every metric by the same factor. With a weight metric the
/// factor is the weight of the micro batch instead, a constant to the gradient, and the weight itself stays as it is.
/// Parameters that do not reach the loss get zeros; those in ctx.is_frozen get no output. Conventions at kinks:
/// autodiff/vjp.hpp.
bool autodiff(ir::Graph& graph, const PassContext& ctx);

/// Uses of stop_gradient read its operand.
bool strip_stop_gradient(ir::Graph& graph, const PassContext& ctx);

/// With ctx.accumulate_into: adds an input (gradient | metric, i) per output of that port and makes the output their sum.
bool accumulate(ir::Graph& graph, const PassContext& ctx);

/// With ctx.reduce_gradients: all_reduce over dp of the gradients in buckets of about bucket_bytes, in the order in which
/// backward completes them, and of the metrics in a bucket of their own. For dp = 1 too, so that plans have one shape.
bool parallel(ir::Graph& graph, const PassContext& ctx);

/// Groups element-wise ops, row and column reductions and the movement between them into `fused` nodes; afterwards every
/// elementwise, reduce, leaf and non-reshape movement node is inside a region. Rules of the three region kinds: fusion/README.md.
bool fusion(ir::Graph& graph, const PassContext& ctx);

}  // namespace dtj::passes
