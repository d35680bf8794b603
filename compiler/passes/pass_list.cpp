#include <algorithm>

#include "compiler/passes/passes.hpp"

// THE list: what happens to a graph between lowering and code generation, in order.

namespace dtj::passes {
namespace {

const std::vector<Pass> train_micro_list = {
    {"layout", layout},
    {"canonicalize", canonicalize},
    {"autodiff", autodiff},
    {"strip_stop_gradient", strip_stop_gradient},
    {"canonicalize", canonicalize},
    {"accumulate", accumulate},
    {"parallel", parallel},
    {"fusion", fusion},
};

const std::vector<Pass> forward_list = {
    {"strip_stop_gradient", strip_stop_gradient},
    {"layout", layout},
    {"canonicalize", canonicalize},
    {"fusion", fusion},
};

}  // namespace

const std::vector<Pass>& pass_list(Pipeline pipeline) {
  switch (pipeline) {
    case Pipeline::train_micro:
      return train_micro_list;
    case Pipeline::update:
    case Pipeline::evaluate:
      return forward_list;
  }
  return forward_list;
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const std::vector<Pass>* list : {&train_micro_list, &forward_list})
    for (const Pass& pass : *list)
      if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.push_back(pass.name);
  return names;
}

}  // namespace dtj::passes
