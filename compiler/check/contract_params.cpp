#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/contract.hpp"

// What the job says about parameters by name: which are frozen, and which tensor of a file each starts as.

namespace dtj::check {

std::vector<bool> find_frozen(const TrainDraft& train, const std::vector<ParamInfo>& params, diag::Sink& sink) {
  std::vector<bool> is_frozen(params.size(), false);
  if (!train.freeze) return is_frozen;
  for (const StatedPattern& stated : *train.freeze) {
    bool is_used = false;
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (!stated.pattern.matches(params[i].name)) continue;
      is_used = true;
      is_frozen[i] = true;
    }
    if (is_used) continue;
    report_no_match(diag::Kind::no_matching_parameter, stated.range, fmt::format("no parameter of the model matches \"{}\"", stated.pattern.text()),
                    stated.pattern, params, sink);
  }
  const bool is_all = !params.empty() && std::all_of(is_frozen.begin(), is_frozen.end(), [](bool frozen) { return frozen; });
  if (is_all)
    sink.report({diag::Kind::nothing_to_train, train.freeze->front().range, "`freeze` leaves no parameter to train"})
        .help("freeze fewer, for example `freeze = [\"wte.*\"]`");
  return is_frozen;
}

namespace {

/// The first rule whose right side is the name of the parameter; without one, names are the same on both sides.
WeightSource source_of(const ParamInfo& param, const std::vector<WeightRuleDraft>& rules, std::vector<bool>& is_used) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto captures = rules[i].to.match(param.name);
    if (!captures) continue;
    is_used[i] = true;
    return {param.name, rules[i].from.substitute(*captures), rules[i].transpose};
  }
  return {param.name, param.name, false};
}

}  // namespace

WeightsSpec resolve_weights(const WeightsDraft& draft, const std::vector<ParamInfo>& params, const std::function<bool(source::Range)>& is_library,
                            diag::Sink& sink) {
  WeightsSpec spec;
  spec.path = draft.path;
  spec.missing = draft.missing;
  spec.unexpected = draft.unexpected;
  std::vector<bool> is_used(draft.rules.size(), false);
  for (const ParamInfo& param : params) {
    WeightSource source = source_of(param, draft.rules, is_used);
    // A vector is the same both ways, so that one rule can name the weight and the bias of a layer.
    source.transpose = source.transpose && param.type.shape.size() >= 2;
    spec.sources.push_back(std::move(source));
  }
  for (std::size_t i = 0; i < draft.rules.size(); ++i) {
    const WeightRuleDraft& rule = draft.rules[i];
    // A map of the library serves variants of a model.
    if (is_used[i] || is_library(rule.range)) continue;
    const bool is_shadowed = std::any_of(params.begin(), params.end(), [&](const ParamInfo& param) { return rule.to.matches(param.name); });
    if (is_shadowed)
      sink.report({diag::Kind::unused_weight_rule, rule.range, fmt::format("earlier rules leave no parameter for \"{}\"", rule.to.text())})
          .help("the first rule that fits a parameter counts: move this one up, or leave it out");
    else
      report_no_match(diag::Kind::unused_weight_rule, rule.range, fmt::format("no parameter of the model matches \"{}\"", rule.to.text()), rule.to,
                      params, sink);
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!spec.sources[i].transpose || params[i].type.shape.size() == 2) continue;
    const auto rule = std::find_if(draft.rules.begin(), draft.rules.end(), [&](const auto& r) { return r.to.matches(params[i].name); });
    sink.report({diag::Kind::wrong_weight_rule, rule->range, fmt::format("`transpose` exchanges the 2 dims of a matrix, and `{}` has {}", params[i].name,
                                                                        params[i].type.shape.size())})
        .help("leave `transpose` out for this parameter");
  }
  return spec;
}

}  // namespace dtj::check
