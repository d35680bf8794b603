#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// How parameters are filled before the first step.

namespace dtj::check {

namespace {

/// Two numbers, and whether they are divided by sqrt(fan_in).
Value make_init(PrimitiveCall& call, InitKind kind) {
  double numbers[2] = {0, 0};
  const std::size_t count = kind == InitKind::constant ? 1 : 2;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_number(call.args[i])) {
      return call.fail(diag::Kind::wrong_type, call.args[i].range,
                       fmt::format("`{}` takes numbers, found {}", call.name, describe(call.args[i])));
    }
    numbers[i] = as_number(call.args[i]).value_or(0);
  }
  if (kind == InitKind::normal && numbers[1] < 0) {
    return call.fail(diag::Kind::bad_value, call.args[1].range,
                     fmt::format("a standard deviation cannot be {}", show(call.args[1])));
  }
  if (kind == InitKind::uniform && numbers[0] > numbers[1]) {
    return call.fail(
        diag::Kind::bad_value, call.range,
        fmt::format("the bounds {} and {} are in the wrong order", show(call.args[0]), show(call.args[1])));
  }
  auto scaled = kind == InitKind::constant ? std::optional(false) : call.flag(2, false);
  if (!scaled) return {};
  return {InitValue{{kind, numbers[0], numbers[1]}, *scaled}, call.range};
}

Value run_constant(PrimitiveCall& call) {
  return make_init(call, InitKind::constant);
}
Value run_uniform(PrimitiveCall& call) {
  return make_init(call, InitKind::uniform);
}
Value run_normal(PrimitiveCall& call) {
  return make_init(call, InitKind::normal);
}

}  // namespace

std::vector<Primitive> init_primitives() {
  return {
      {"init_constant", "value", run_constant},
      {"init_normal", "mean, std, fan_in_scaled?", run_normal},
      {"init_uniform", "low, high, fan_in_scaled?", run_uniform},
  };
}

}  // namespace dtj::check
