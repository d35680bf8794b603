#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/check/interpreter.hpp"
#include "engine/base/name_pattern.hpp"

// `groups = [group("*.bias", weight_decay = 0.0)]`: parameters for which an optimizer has other settings. Such a parameter
// has an instance of the optimizer of its own, so that every condition between settings is checked for it too.

namespace dtj::check {

/// The optimizer of one parameter.
struct ParamOptimizer {
  std::shared_ptr<ModuleInstance> instance;
  double lr_scale = 1;
};

class ParamGroups {
 public:
  ParamGroups(Interpreter& in, std::shared_ptr<ModuleInstance> optimizer) : in_(in), optimizer_(std::move(optimizer)) {}

  /// Reads the setting `groups` of the optimizer. False: reported.
  bool read(const std::vector<ParamInfo>& params);
  /// Groups apply in their order, a later one over an earlier one. None: reported.
  std::optional<ParamOptimizer> find(const std::string& param);

 private:
  struct Group {
    NamePattern pattern;
    std::vector<Argument> settings;
    double lr_scale = 1;
    source::Range range;
  };
  std::optional<Group> read_group(const Value& value);
  std::optional<ParamOptimizer> make(const std::vector<bool>& applies);

  Interpreter& in_;
  std::shared_ptr<ModuleInstance> optimizer_;
  std::vector<Group> groups_;
  std::map<std::vector<bool>, std::optional<ParamOptimizer>> made_;  ///< by the groups that apply
};

}  // namespace dtj::check
