#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// What a module may take for granted while it is checked on its own: the conditions that `where` and `check` state.

namespace dtj::check {

void Interpreter::assume(const ast::Expr& condition, const ScopePtr& scope) {
  if (!is_symbolic_) return;
  const auto* binary = std::get_if<ast::Binary>(&condition.node);
  if (!binary) return;
  if (binary->op == ast::BinaryOp::logical_and) {
    assume(*binary->lhs, scope);
    assume(*binary->rhs, scope);
  }
  if (binary->op != ast::BinaryOp::divides) return;
  const auto divisor = as_dim(evaluate(*binary->lhs, scope));
  const auto dividend = as_dim(evaluate(*binary->rhs, scope));
  if (divisor && dividend && !divisor->is(0) && !dividend->is(0)) assumed_.emplace_back(*divisor, *dividend);
}

bool Interpreter::is_assumed_to_divide(const Dim& divisor, const Dim& dividend) const {
  // d divides n, and dividend = k n: what divides k d divides the dividend too.
  return std::any_of(assumed_.begin(), assumed_.end(), [&](const auto& assumption) {
    const auto factor = Dim::divide(dividend, assumption.second);
    return factor && Dim::divide(*factor * assumption.first, divisor);
  });
}

void Interpreter::report_unproved(const Dim& dividend, const Dim& divisor, source::Range range) {
  if (!unproved_.emplace(range.file, range.begin).second) return;
  report(diag::Kind::unproved_division, range,
         fmt::format("the division {} / {} is not exact for every size", dividend.to_string(), divisor.to_string()))
      .note("`/` on integers must leave no remainder")
      .help(fmt::format("state it: `where {} divides {}`; or round down with `div`", divisor.to_string(),
                        dividend.to_string()));
}

}  // namespace dtj::check
