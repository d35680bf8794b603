#include "compiler/check/param_groups.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/name_patterns.hpp"

namespace dtj::check {

std::optional<ParamGroups::Group> ParamGroups::read_group(const Value& value) {
  if (value.is_poison() || value.is_unbound()) return std::nullopt;
  const auto* record = value.as<std::shared_ptr<Record>>();
  if (!record || (*record)->name != "group" || !(*record)->find("pattern")) {
    in_.report(diag::Kind::wrong_type, value.range, fmt::format("`groups` holds groups, found {}", describe(value)))
        .help("for example `group(\"*.bias\", weight_decay = 0.0)`");
    return std::nullopt;
  }
  const Value* pattern = (*record)->find("pattern");
  const Value* settings = (*record)->find("settings");
  auto stated = pattern ? read_pattern(*pattern, "`group`", *in_.sink) : std::nullopt;
  if (!stated || !settings) return std::nullopt;
  Group group{std::move(stated->pattern), {}, 1, value.range};
  for (const Value& pair : (*settings->as<std::shared_ptr<List>>())->elements) {
    const auto& elements = (*pair.as<std::shared_ptr<Tuple>>())->elements;
    const std::string& name = *elements[0].as<std::string>();
    if (name != "lr_scale") {
      group.settings.push_back({ast::Name{name, elements[0].range}, elements[1]});
      continue;
    }
    const auto number = as_number(elements[1]);
    if (!number) {
      in_.report(diag::Kind::wrong_type, elements[1].range,
                 fmt::format("`lr_scale` takes a number, found {}", describe(elements[1])))
          .help("it multiplies the learning rate: `lr_scale = 0.1`");
      return std::nullopt;
    }
    group.lr_scale = *number;
  }
  return group;
}

bool ParamGroups::read(const std::vector<ParamInfo>& params) {
  const auto stated = in_.find_here("groups", optimizer_->scope);
  const auto* list = stated ? stated->as<std::shared_ptr<List>>() : nullptr;
  if (!list) return true;
  bool good = true;
  for (const Value& element : (*list)->elements) {
    auto group = read_group(element);
    good = good && group;
    if (!group) continue;
    const bool is_used = std::any_of(params.begin(), params.end(),
                                     [&](const ParamInfo& param) { return group->pattern.matches(param.name); });
    if (!is_used) {
      good = false;
      const Value* pattern = (*element.as<std::shared_ptr<Record>>())->find("pattern");
      report_no_match(diag::Kind::no_matching_parameter, pattern->range,
                      fmt::format("no parameter of the model matches \"{}\"", group->pattern.text()), group->pattern,
                      params, *in_.sink);
    }
    groups_.push_back(std::move(*group));
  }
  return good;
}

std::optional<ParamOptimizer> ParamGroups::find(const std::string& param) {
  std::vector<bool> applies;
  for (const Group& group : groups_) applies.push_back(group.pattern.matches(param));
  auto place = made_.find(applies);
  if (place == made_.end()) place = made_.emplace(applies, make(applies)).first;
  return place->second;
}

std::optional<ParamOptimizer> ParamGroups::make(const std::vector<bool>& applies) {
  ParamOptimizer result{optimizer_, 1};
  std::map<std::string, Argument> settings;
  source::Range range;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (!applies[i]) continue;
    result.lr_scale *= groups_[i].lr_scale;
    for (const Argument& setting : groups_[i].settings) settings[setting.name->text] = setting;
    range = groups_[i].range;
  }
  if (settings.empty()) return result;
  std::vector<Argument> args;
  for (const auto& param : optimizer_->decl->params) {
    const std::string& name = param.name.text;
    if (name == "groups" || settings.count(name) == 1) continue;
    if (auto value = in_.find_here(name, optimizer_->scope)) args.push_back({param.name, *value});
  }
  for (const auto& [name, setting] : settings) args.push_back(setting);
  const Value made = in_.instantiate({optimizer_->decl, optimizer_->members->parent}, std::move(args), range);
  const auto* instance = made.as<std::shared_ptr<ModuleInstance>>();
  if (!instance) return std::nullopt;
  result.instance = *instance;
  return result;
}

}  // namespace dtj::check
