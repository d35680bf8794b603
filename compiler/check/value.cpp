#include "compiler/check/value.hpp"

#include <fmt/format.h>

#include "compiler/check/units.hpp"

namespace dtj::check {

std::string_view to_string(UnitKind kind) {
  switch (kind) {
    case UnitKind::time:
      return "time";
    case UnitKind::bytes:
      return "bytes";
    case UnitKind::tok:
      return "tok";
    case UnitKind::step:
      return "step";
    case UnitKind::epoch:
      return "epoch";
    case UnitKind::sample:
      return "sample";
    case UnitKind::percent:
      return "percent";
    case UnitKind::bandwidth:
      return "bandwidth";
  }
  return "";
}

const Value* Record::find(std::string_view field) const {
  for (const auto& [name, value] : fields) {
    if (name == field) return &value;
  }
  return nullptr;
}

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent.get()) {
    if (auto place = scope->names.find(std::string(name)); place != scope->names.end()) return &place->second;
  }
  return nullptr;
}

std::vector<std::string> Scope::all_names() const {
  std::vector<std::string> result;
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent.get()) {
    for (const auto& [name, value] : scope->names) {
      if (name.rfind("..", 0) != 0) result.push_back(name);
    }
    for (const auto& [name, decl] : scope->lazy) result.push_back(name);
    for (const auto& [name, owner] : scope->elsewhere) result.push_back(name);
    auto instance = scope->instance.lock();
    if (!instance) continue;
    for (const auto& item : instance->decl->items) {
      if (const auto* function = std::get_if<ast::FnDecl>(&item)) result.push_back(function->name.text);
    }
  }
  return result;
}

std::string to_string(DType dtype, const Dims& dims) {
  return std::string(to_string(dtype)) + to_string(dims);
}

namespace {

struct Describe {
  std::string operator()(const Poison&) const { return "a value with an error"; }
  std::string operator()(const None&) const { return "`none`"; }
  std::string operator()(bool) const { return "a bool"; }
  std::string operator()(std::int64_t) const { return "an integer"; }
  std::string operator()(const Dim&) const { return "an integer"; }
  std::string operator()(double) const { return "a number with a fraction"; }
  std::string operator()(const std::string&) const { return "a string"; }
  std::string operator()(const Quantity& quantity) const { return describe(quantity.kind); }
  std::string operator()(const Unbound& unbound) const {
    return unbound.name.empty() ? "a number" : fmt::format("the placeholder `<{}>`", unbound.name);
  }
  std::string operator()(const Secret& secret) const { return fmt::format("the secret `<{}>`", secret.name); }
  std::string operator()(const IntRange&) const { return "a range"; }
  std::string operator()(const std::shared_ptr<List>& list) const {
    return fmt::format("a list of {}", list->elements.size());
  }
  std::string operator()(const std::shared_ptr<Tuple>& tuple) const {
    return fmt::format("a tuple of {}", tuple->elements.size());
  }
  std::string operator()(const std::shared_ptr<Record>& record) const {
    return record->name.empty() ? "a record" : fmt::format("a record `{}`", record->name);
  }
  std::string operator()(const EnumValue& value) const { return fmt::format("`{}.{}`", value.enum_name, value.value); }
  std::string operator()(const InitValue&) const { return "an initialiser"; }
  std::string operator()(const TensorValue& tensor) const {
    return fmt::format("a tensor {}", to_string(tensor.dtype, tensor.dims));
  }
  std::string operator()(const ParamSlot& slot) const {
    return fmt::format("a parameter {}", to_string(slot.dtype, slot.dims));
  }
  std::string operator()(const BufferSlot& slot) const {
    return fmt::format("a buffer {}", to_string(slot.dtype, slot.dims));
  }
  std::string operator()(const std::shared_ptr<ModuleInstance>& instance) const {
    return fmt::format("an instance of `{}`", instance->decl->name.text);
  }
  std::string operator()(const std::shared_ptr<Function>& function) const {
    return fmt::format("the function `{}`", function->decl ? function->decl->name.text : function->primitive);
  }
  std::string operator()(const ModuleType& type) const { return fmt::format("the module `{}`", type.decl->name.text); }
  std::string operator()(const RecordType& type) const { return fmt::format("the record `{}`", type.decl->name.text); }
  std::string operator()(const EnumType& type) const { return fmt::format("the enum `{}`", type.decl->name.text); }
  std::string operator()(const Namespace& space) const { return fmt::format("the import `{}`", space.name); }
};

}  // namespace

std::string describe(const Value& value) {
  return std::visit(Describe{}, value.data);
}

std::string show(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return std::to_string(*integer);
  if (const auto* dim = value.as<Dim>()) return dim->to_string();
  if (const auto* real = value.as<double>()) return fmt::format("{}", *real);
  if (const auto* flag = value.as<bool>()) return *flag ? "true" : "false";
  if (const auto* text = value.as<std::string>(); text && text->size() < 40) return "\"" + *text + "\"";
  if (const auto* quantity = value.as<Quantity>()) return spell(*quantity);
  if (const auto* range = value.as<IntRange>()) return fmt::format("{}..{}", range->begin, range->end);
  return describe(value);
}

}  // namespace dtj::check
