#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// Settings of the training that are data.

namespace dtj::check {

namespace {

/// `group("*.bias", weight_decay = 0.0)`: any settings, so it is no record of the library; the optimizer knows its own.
Value run_group(PrimitiveCall& call) {
  auto settings = std::make_shared<List>();
  for (const auto& [name, value] : call.extra) {
    if (name.text == "groups") {
      return call.fail(diag::Kind::wrong_argument, name.range, "a group cannot have groups of its own",
                       "write it as one more element of `groups = [...]`");
    }
    settings->elements.push_back(
        {std::make_shared<Tuple>(Tuple{{Value{name.text, name.range}, value}}), value.range});
  }
  auto record = std::make_shared<Record>();
  record->name = "group";
  record->fields = {{"pattern", call.args[0]}, {"settings", {settings, call.range}}};
  return {record, call.range};
}

}  // namespace

std::vector<Primitive> policy_primitives() {
  return {{"group", "pattern, **", run_group}};
}

}  // namespace dtj::check
