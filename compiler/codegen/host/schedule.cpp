#include "compiler/codegen/host/schedule.hpp"

#include <algorithm>

namespace dtj::codegen {
namespace {

using ir::Op;

/// A row that is kept in memory must fit the level-1 or level-2 cache and the stack of a worker.
constexpr std::int64_t max_cached_row = 32768;
constexpr int max_cached_values = 3;
/// Below this weight computing a value again is cheaper than storing and loading it.
constexpr int min_cached_weight = 15;

int own_weight(const Expr& expr, std::size_t vector_dim) {
  if (expr.kind == ExprKind::load) return expr.where.coeff[vector_dim] > 1 ? 10 : 1;
  if (expr.kind == ExprKind::guard) return 2;
  if (expr.kind != ExprKind::apply) return 0;
  switch (expr.op) {
    case Op::exp:
      return 20;
    case Op::log:
      return 22;
    case Op::tanh:
      return 28;
    case Op::erf:
      return 36;
    case Op::sin:
    case Op::cos:
      return 40;
    case Op::pow:
      return 60;
    case Op::random:
      return 80;
    case Op::div:
    case Op::sqrt:
      return 5;
    case Op::rsqrt:
      return 9;
    default:
      return 1;
  }
}

std::uint64_t dims_of(const Affine& affine) {
  std::uint64_t dims = 0;
  for (std::size_t d = 0; d < affine.coeff.size(); ++d)
    if (affine.coeff[d] != 0) dims |= std::uint64_t{1} << d;
  return dims;
}

void find_dependences(const LoopNest& nest, Schedule& s) {
  const std::uint64_t inner = std::uint64_t{1} << nest.vector_dim();
  for (const Expr& expr : nest.exprs) {
    std::uint64_t dims = dims_of(expr.where);
    int pass = 0, weight = 0;
    for (const ExprId arg : expr.args) {
      dims |= s.dims[arg];
      pass = std::max(pass, s.pass[arg]);
      weight += s.weight[arg];
    }
    if (expr.kind == ExprKind::reduction) {
      const ExprId body = nest.reductions[expr.number].body;
      for (std::size_t d = 0; d < nest.num_dims(); ++d)
        if (!nest.reduced[d]) dims |= std::uint64_t{1} << d;
      pass = s.pass[body] + 1;
    }
    if ((dims & inner) != 0) weight += own_weight(expr, nest.vector_dim());
    if (expr.dtype == DType::f64 || expr.dtype == DType::i64) s.has_f64 = s.has_f64 || (dims & inner) != 0;
    if (expr.kind == ExprKind::load && expr.where.coeff[nest.vector_dim()] > 1) s.has_strided_loads = true;
    s.dims.push_back(dims);
    s.pass.push_back(pass);
    s.weight.push_back((dims & inner) != 0 ? weight : 0);
  }
}

/// Finds the topmost heavy values that a later pass needs again.
class CachePlanner {
 public:
  CachePlanner(const LoopNest& nest, Schedule& s) : nest_(nest), s_(s), computed_(nest.exprs.size()) {
    s_.cached_from.assign(nest.exprs.size(), std::nullopt);
  }

  void run() {
    std::int64_t row = 1;
    for (std::size_t d = 0; d < nest_.num_dims(); ++d)
      if (nest_.reduced[d]) row *= nest_.extents[d];
    if (nest_.kind != NestKind::row || row > max_cached_row) return;
    for (int pass = 0; pass < s_.num_passes; ++pass) {
      const auto p = static_cast<std::size_t>(pass);
      for (const std::uint32_t r : s_.reductions[p]) visit(nest_.reductions[r].body, pass);
      for (const std::uint32_t r : s_.results[p]) visit(nest_.results[r].value, pass);
    }
  }

 private:
  void visit(ExprId id, int pass) {
    if (s_.weight[id] == 0 || s_.cached_from[id]) return;
    if (computed_[id] == pass) return;
    const Expr& expr = nest_.exprs[id];
    const bool can_keep = expr.kind == ExprKind::apply && expr.dtype == DType::f32;
    if (computed_[id] && can_keep && s_.weight[id] >= min_cached_weight && num_cached_ < max_cached_values) {
      s_.cached_from[id] = computed_[id];
      ++num_cached_;
      return;
    }
    if (!computed_[id]) computed_[id] = pass;
    // Below a guard a value may not be computed for all of the row.
    if (expr.kind == ExprKind::guard) return;
    for (const ExprId arg : expr.args) visit(arg, pass);
  }

  const LoopNest& nest_;
  Schedule& s_;
  std::vector<std::optional<int>> computed_;
  int num_cached_ = 0;
};

}  // namespace

Schedule make_schedule(const LoopNest& nest) {
  Schedule s;
  find_dependences(nest, s);
  int last = 0;
  for (const Reduction& r : nest.reductions) last = std::max(last, s.pass[r.body]);
  for (const NestResult& r : nest.results)
    if (!r.is_kept) last = std::max(last, s.pass[r.value]);
  s.num_passes = last + 1;
  s.reductions.resize(static_cast<std::size_t>(s.num_passes));
  s.results.resize(static_cast<std::size_t>(s.num_passes));
  for (std::uint32_t i = 0; i < nest.reductions.size(); ++i) {
    const ExprId body = nest.reductions[i].body;
    s.reductions[static_cast<std::size_t>(s.pass[body])].push_back(i);
    s.weight_per_element += 1 + s.weight[body];
  }
  for (std::uint32_t i = 0; i < nest.results.size(); ++i) {
    if (nest.results[i].is_kept) continue;
    s.results[static_cast<std::size_t>(s.pass[nest.results[i].value])].push_back(i);
    s.weight_per_element += 1 + s.weight[nest.results[i].value];
  }
  CachePlanner(nest, s).run();
  return s;
}

bool can_share_memory(const LoopNest& nest, const Schedule& schedule, std::uint32_t input, std::uint32_t result) {
  if (nest.kind == NestKind::column) return false;
  const NestResult& target = nest.results[result];
  if (target.is_kept || size_of(nest.inputs[input]) != size_of(target.dtype)) return false;
  // Every use of the input must be in the pass that writes the result, or before it.
  const int written = schedule.pass[target.value];
  std::vector<bool> uses(nest.exprs.size(), false);
  for (ExprId id = 0; id < nest.exprs.size(); ++id) {
    const Expr& expr = nest.exprs[id];
    if (expr.kind == ExprKind::load && expr.number == input) {
      if (!(expr.where == target.where)) return false;
      uses[id] = true;
    }
    for (const ExprId arg : expr.args) uses[id] = uses[id] || uses[arg];
  }
  for (const Reduction& r : nest.reductions)
    if (uses[r.body] && schedule.pass[r.body] > written) return false;
  for (const NestResult& r : nest.results)
    if (uses[r.value] && (r.is_kept || schedule.pass[r.value] > written)) return false;
  return true;
}

}  // namespace dtj::codegen
