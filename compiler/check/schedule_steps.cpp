#include <cmath>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"
#include "compiler/check/units.hpp"

// Lengths of a schedule. A schedule is a function of the step alone, so that every rank computes the same rate and a
// resumed run goes on with it.

namespace dtj::check {

bool Interpreter::fit_steps(Value& value, const Fit& fit) {
  if (as_dim(value)) return true;
  const auto* quantity = value.as<Quantity>();
  if (!quantity) {
    report(diag::Kind::wrong_type, value.range, fmt::format("{} must be a number of steps, found {}", fit.subject, describe(value)))
        .label(fit.declaration, "declared here")
        .help("for example `100` or `100step`");
    return false;
  }
  double steps = quantity->amount;
  const DataSpec batch = schedule_batch.value_or(DataSpec{});
  if (quantity->kind == UnitKind::sample) {
    steps /= static_cast<double>(batch.global_batch);
  } else if (quantity->kind == UnitKind::tok) {
    steps /= static_cast<double>(batch.global_batch * batch.tokens_per_sample());
  } else if (quantity->kind != UnitKind::step) {
    report(diag::Kind::schedule_unit, value.range, fmt::format("{} counts steps, samples or tokens, found {}", fit.subject, describe(value)))
        .note("the rate must be a function of the step: the length of an epoch changes with the data, and that of an hour with the machine")
        .help("for example `100step`");
    return false;
  }
  value.data = static_cast<std::int64_t>(std::ceil(steps));
  return true;
}

}  // namespace dtj::check
