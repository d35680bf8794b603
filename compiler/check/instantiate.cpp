#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// `Linear(784, 256)`: an instance of a module, its parameters numbered in the order of declaration, depth first.

namespace dtj::check {

namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 40;

std::string join_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

bool is_optimizer(const ast::ModuleDecl& decl) {
  return std::any_of(decl.attrs.begin(), decl.attrs.end(),
                     [](const ast::Attr& attr) { return attr.name.to_string() == "optimizer"; });
}

}  // namespace

Value Interpreter::make_record(const RecordType& type, std::vector<Argument> args, source::Range range) {
  const ast::RecordDecl& decl = *type.decl;
  auto scope = std::make_shared<Scope>();
  scope->parent = type.scope;
  if (!match_arguments(decl.fields, args, decl.name.text, decl.name.range, range, scope)) return {};
  auto record = std::make_shared<Record>();
  record->name = decl.name.text;
  Fit to_fields{scope, "", {}, false};
  for (const auto& field : decl.fields) {
    Value value = scope->names[field.name.text];
    if (value.range.is_none) value.range = range;
    to_fields.subject = fmt::format("`{}` of `{}`", field.name.text, decl.name.text);
    to_fields.declaration = field.name.range;
    if (field.type && !value.is_poison() && !fit(value, *field.type, to_fields)) value.data = Poison{};
    record->fields.emplace_back(field.name.text, std::move(value));
  }
  return {record, range};
}

Value Interpreter::instantiate(const ModuleType& type, std::vector<Argument> args, source::Range range) {
  const ast::ModuleDecl& decl = *type.decl;
  for (const auto& arg : args) {
    // What depends on a placeholder without a value can be made when it has one.
    if (arg.value.is_unbound() && !is_symbolic_) return arg.value;
  }
  auto instance = std::make_shared<ModuleInstance>();
  instance->decl = &decl;
  instance->path = path_;
  instance->members = std::make_shared<Scope>();
  instance->members->parent = type.scope;
  instance->members->instance = instance;
  instance->scope = std::make_shared<Scope>();
  instance->scope->parent = instance->members;
  auto& arguments = instance->scope->names;
  if (!match_arguments(decl.params, args, decl.name.text, decl.name.range, range, instance->scope)) return {};
  for (const auto& [name, value] : arguments) {
    if (value.is_poison()) return {};
  }
  if (!enter(decl.name.text, range)) return {};
  Fit to_params{instance->scope, "", {}, false};
  bool good = true;
  for (const auto& param : decl.params) {
    if (!param.type) continue;
    to_params.subject = fmt::format("argument `{}` of `{}`", param.name.text, decl.name.text);
    to_params.declaration = source::join(param.name.range, param.type->range);
    Value& value = arguments[param.name.text];
    if (value.range.is_none) value.range = range;
    good = fit(value, *param.type, to_params) && good;
  }
  good = good && check_where(decl.where, instance->scope, decl.name.text, range);
  if (good) instantiate_items(instance);
  leave();
  return good ? Value{instance, range} : Value{};
}

void Interpreter::instantiate_items(const std::shared_ptr<ModuleInstance>& instance) {
  const std::string path = path_;
  for (const auto& item : instance->decl->items) {
    if (const auto* constant = std::get_if<ast::ConstDecl>(&item)) {
      if (claim(instance->scope, constant->name)) instance->scope->lazy[constant->name.text] = constant;
    }
  }
  for (const auto& item : instance->decl->items) {
    if (const auto* state = std::get_if<ast::StateDecl>(&item)) {
      check_attrs(state->attrs);
      if (claim(instance->members, state->name)) instantiate_param(*state, instance);
    } else if (const auto* sub = std::get_if<ast::SubDecl>(&item)) {
      check_attrs(sub->attrs);
      if (claim(instance->members, sub->name)) instantiate_sub(*sub, instance);
    } else if (const auto* function = std::get_if<ast::FnDecl>(&item)) {
      if (claim(instance->members, function->name)) is_valid_function(*function);
    }
    path_ = path;
  }
  auto& lazy = instance->scope->lazy;
  while (!lazy.empty()) force(lazy.begin()->first, instance->scope);
}

std::optional<bool> Interpreter::evaluate_when(const ast::ExprPtr& when, const ScopePtr& scope) {
  if (!when) return true;
  Value value = evaluate(*when, scope);
  if (const auto* flag = value.as<bool>()) return *flag;
  if (!value.is_poison() && !value.is_unbound()) {
    report(diag::Kind::wrong_type, when->range, fmt::format("`when` takes a bool, found {}", describe(value)));
  }
  return std::nullopt;
}

std::optional<InitSpec> Interpreter::evaluate_init(const ast::StateDecl& decl, const Dims& dims,
                                                   const ScopePtr& scope) {
  if (!decl.init) {
    report(diag::Kind::wrong_argument, decl.name.range, fmt::format("`{}` has no initial value", decl.name.text))
        .help(fmt::format("write `{} = zeros()` or another initialiser of `std.init`", text_of(decl.type->range)));
    return std::nullopt;
  }
  Value value = evaluate(*decl.init, scope);
  if (value.is_poison() || value.is_unbound()) return std::nullopt;
  const auto* init = value.as<InitValue>();
  if (!init) {
    auto& diagnostic = report(
        diag::Kind::wrong_type, value.range,
        fmt::format("the initial value of `{}` must be an initialiser, found {}", decl.name.text, describe(value)));
    if (is_number(value)) diagnostic.help(fmt::format("write `constant({})`", show(value)));
    return std::nullopt;
  }
  InitSpec spec = init->spec;
  if (init->fan_in_scaled) {
    double fan_in = 1;
    for (std::size_t i = 1; i < dims.size(); ++i) fan_in *= static_cast<double>(dims[i].number().value_or(1));
    const double scale = 1.0 / std::sqrt(std::max(fan_in, 1.0));
    spec.a *= scale;
    spec.b *= scale;
  }
  return spec;
}

void Interpreter::instantiate_param(const ast::StateDecl& decl, const std::shared_ptr<ModuleInstance>& instance) {
  auto& names = instance->members->names;
  if (decl.kind == ast::StateDecl::Kind::buffer) return instantiate_buffer(decl, instance);
  if (decl.kind == ast::StateDecl::Kind::state) {
    if (!is_optimizer(*instance->decl)) {
      report(diag::Kind::wrong_type, decl.name.range,
             fmt::format("`{}` has a state, but is not an optimizer", instance->decl->name.text))
          .help("mark the module with `@optimizer`, or declare a `param`");
    }
    return;
  }
  names[decl.name.text] = {};
  auto is_present = evaluate_when(decl.when, instance->scope);
  if (!is_present) return;
  if (!*is_present) {
    names[decl.name.text] = {None{}, decl.name.range};
    return;
  }
  const auto* named = std::get_if<ast::NamedType>(&decl.type->node);
  const auto dtype = named ? dtype_of(*named) : std::nullopt;
  if (!dtype || !named->dims || !is_float(*dtype)) {
    report(diag::Kind::wrong_type, decl.type->range,
           fmt::format("the type of the parameter `{}` must be a float tensor such as `par[O, I]`", decl.name.text));
    return;
  }
  auto dims = dims_of(*named->dims, instance->scope);
  if (!dims) return;
  auto init = evaluate_init(decl, *dims, instance->scope);
  ParamInfo info{join_path(instance->path, decl.name.text), {*dtype, {}}, init.value_or(InitSpec{}), decl.name.range};
  std::int64_t num_elements = 1;
  for (const Dim& dim : *dims) {
    const std::int64_t size = dim.number().value_or(1);
    info.type.shape.push_back(size);
    if (__builtin_mul_overflow(num_elements, size, &num_elements) || num_elements > max_elements) {
      report(diag::Kind::too_large, decl.type->range,
             fmt::format("the parameter `{}` of {} is too large", info.name, to_string(*dtype, *dims)));
      return;
    }
  }
  if (is_recording()) {
    report(diag::Kind::wrong_type, decl.name.range,
           fmt::format("`{}` has parameters and is made inside a function", instance->decl->name.text))
        .help("make it as a `sub` of a module");
    return;
  }
  for (const auto& other : params) {
    if (other.name != info.name) continue;
    report(diag::Kind::duplicate_name, decl.name.range,
           fmt::format("two parameters of the model are named `{}`", info.name))
        .help("make every module with parameters a `sub` of its own");
    return;
  }
  const auto index = static_cast<std::uint32_t>(params.size());
  params.push_back(std::move(info));
  instance->params.push_back(index);
  names[decl.name.text] = {ParamSlot{index, *dtype, *dims}, decl.name.range};
}

void Interpreter::instantiate_buffer(const ast::StateDecl& decl, const std::shared_ptr<ModuleInstance>& instance) {
  auto& place = instance->members->names[decl.name.text];
  place = {};
  const auto is_present = evaluate_when(decl.when, instance->scope);
  if (!is_present) return;
  if (!*is_present) {
    place = {None{}, decl.name.range};
    return;
  }
  const auto* named = std::get_if<ast::NamedType>(&decl.type->node);
  const auto dtype = named ? dtype_of(*named) : std::nullopt;
  if (!named || !named->dims || dtype != DType::f32) {
    report(diag::Kind::wrong_type, decl.type->range,
           fmt::format("the buffer `{}` must be an f32 tensor such as `f32[C]`", decl.name.text));
    return;
  }
  auto dims = dims_of(*named->dims, instance->scope);
  if (!dims) return;
  auto init = evaluate_init(decl, *dims, instance->scope);
  if (is_recording()) {
    report(diag::Kind::wrong_type, decl.name.range,
           fmt::format("`{}` has buffers and is made inside a function", instance->decl->name.text))
        .help("make it as a `sub` of a module");
    return;
  }
  BufferInfo info{join_path(instance->path, decl.name.text), {*dtype, {}}, init.value_or(InitSpec{}), decl.name.range};
  for (const Dim& dim : *dims) info.type.shape.push_back(dim.number().value_or(1));
  for (const auto& other : buffers) {
    if (other.name != info.name) continue;
    report(diag::Kind::duplicate_name, decl.name.range,
           fmt::format("two buffers of the model are named `{}`", info.name))
        .help("make every module with buffers a `sub` of its own");
    return;
  }
  place = {BufferSlot{static_cast<std::uint32_t>(buffers.size()), *dtype, *dims}, decl.name.range};
  buffers.push_back(std::move(info));
}

void Interpreter::instantiate_sub(const ast::SubDecl& decl, const std::shared_ptr<ModuleInstance>& instance) {
  auto& place = instance->members->names[decl.name.text];
  place = {};
  auto is_present = evaluate_when(decl.when, instance->scope);
  if (!is_present) return;
  if (!*is_present) {
    place = {None{}, decl.name.range};
    return;
  }
  auto make = [&](const std::string& path, const ScopePtr& scope) {
    path_ = path;
    Value value = evaluate(*decl.value, scope);
    if (!value.is_poison() && !value.is_unbound() && !value.as<std::shared_ptr<ModuleInstance>>()) {
      auto& diagnostic =
          report(diag::Kind::wrong_type, value.range,
                 fmt::format("`sub {}` must be an instance of a module, found {}", decl.name.text, describe(value)));
      if (is_number(value)) diagnostic.help(fmt::format("write `const {} = ...;`", decl.name.text));
      value.data = Poison{};
    }
    return value;
  };
  const std::string path = join_path(instance->path, decl.name.text);
  if (!decl.index) {
    place = make(path, instance->scope);
    return;
  }
  auto elements = elements_of(evaluate(*decl.sequence, instance->scope), "`sub`");
  if (!elements) return;
  auto list = std::make_shared<List>();
  for (std::size_t i = 0; i < elements->size(); ++i) {
    auto scope = std::make_shared<Scope>();
    scope->parent = instance->scope;
    scope->names[decl.index->text] = (*elements)[i];
    list->elements.push_back(make(path + "." + std::to_string(i), scope));
    if (is_exhausted_) return;
  }
  place = {list, decl.name.range};
}

}  // namespace dtj::check
