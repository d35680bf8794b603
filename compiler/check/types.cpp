#include <array>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// Types of compile-time values.

namespace dtj::check {

namespace {

constexpr std::array<std::pair<std::string_view, UnitKind>, 9> quantity_types = {{
    {"duration", UnitKind::time},
    {"time", UnitKind::time},
    {"bytes", UnitKind::bytes},
    {"tok", UnitKind::tok},
    {"step", UnitKind::step},
    {"epoch", UnitKind::epoch},
    {"sample", UnitKind::sample},
    {"percent", UnitKind::percent},
    {"bandwidth", UnitKind::bandwidth},
}};

const std::vector<std::string> type_names = {"int",      "dim",   "bool", "string", "any",  "Init",  "Schedule",
                                             "duration", "bytes", "f64",  "f32",    "bf16", "f16",   "i32",
                                             "i64",      "steps", "act",   "par",  "tok",    "step", "epoch", "sample"};

bool has_forward(const ModuleInstance& instance) {
  for (const auto& item : instance.decl->items) {
    const auto* function = std::get_if<ast::FnDecl>(&item);
    if (function && function->name.text == "forward") return true;
  }
  return false;
}

}  // namespace

std::optional<DType> Interpreter::dtype_of(const ast::NamedType& type) const {
  if (type.base.parts.size() != 1) return std::nullopt;
  const std::string& name = type.base.parts[0].text;
  if (name == "act") return precision.compute;
  if (name == "par") return precision.params;
  if (name == "acc") return DType::f32;
  if (name == "grad" || name == "red") return precision.reduce;
  if (name == "opt" || name == "stat") return precision.optimizer;
  return parse_dtype(name);
}

bool Interpreter::fit(Value& value, const ast::TypeExpr& type, Fit& fit) {
  if (value.is_poison()) return false;
  if (value.is_unbound()) return true;
  auto mismatch = [&](const std::string& wanted) {
    report(diag::Kind::wrong_type, value.range,
           fmt::format("{} must be {}, found {}", fit.subject, wanted, describe(value)))
        .label(fit.declaration, "declared here");
    return false;
  };
  if (const auto* named = std::get_if<ast::NamedType>(&type.node)) {
    return named->dims ? fit_tensor(value, type, *named, fit) : fit_named(value, type, *named, fit);
  }
  if (const auto* optional = std::get_if<ast::OptionalType>(&type.node)) {
    return value.as<None>() || this->fit(value, *optional->inner, fit);
  }
  bool good = true;
  const std::string subject = fit.subject;
  if (const auto* list = std::get_if<ast::ListType>(&type.node)) {
    const auto* elements = value.as<std::shared_ptr<List>>();
    if (!elements) return mismatch("a list");
    auto checked = std::make_shared<List>(**elements);
    for (auto& element : checked->elements) good = this->fit(element, *list->element, fit) && good;
    value.data = checked;
    return good;
  }
  const auto& tuple = std::get<ast::TupleType>(type.node);
  const auto* elements = value.as<std::shared_ptr<Tuple>>();
  if (!elements || (*elements)->elements.size() != tuple.elements.size()) {
    return mismatch(fmt::format("a tuple of {}", tuple.elements.size()));
  }
  auto checked = std::make_shared<Tuple>(**elements);
  for (std::size_t i = 0; i < tuple.elements.size(); ++i) {
    fit.subject = fmt::format("element {} of {}", i, subject);
    good = this->fit(checked->elements[i], *tuple.elements[i], fit) && good;
  }
  fit.subject = subject;
  value.data = checked;
  return good;
}

bool Interpreter::fit_named(Value& value, const ast::TypeExpr& type, const ast::NamedType& named, Fit& fit) {
  auto mismatch = [&](const std::string& wanted, const std::string& help = "") {
    auto& diagnostic = report(diag::Kind::wrong_type, value.range,
                              fmt::format("{} must be {}, found {}", fit.subject, wanted, describe(value)));
    diagnostic.label(fit.declaration, "declared here");
    if (!help.empty()) diagnostic.help(help);
    return false;
  };
  const std::string name = named.base.parts[0].text;
  std::optional<Value> declared;
  if (named.base.parts.size() > 1) {
    auto outer = find(name, fit.scope);
    const auto* space = outer ? outer->as<Namespace>() : nullptr;
    if (space) declared = find_here(named.base.parts[1].text, space->scope);
    // `path.dir`, `slurm.partition`: text whose meaning the launch contract checks.
    if (!space) return value.as<std::string>() ? true : mismatch("text");
  } else {
    if (name == "any") return true;
    if (name == "int") {
      if (as_dim(value)) return true;
      const auto* real = value.as<double>();
      return mismatch("an integer", real && *real == static_cast<double>(static_cast<std::int64_t>(*real))
                                        ? fmt::format("write `{}`", static_cast<std::int64_t>(*real))
                                        : "");
    }
    if (name == "dim") {
      if (!as_dim(value)) return mismatch("a size");
      if (const auto* size = value.as<std::int64_t>(); size && *size < 1) {
        report(diag::Kind::bad_value, value.range, fmt::format("{} must be at least 1, found {}", fit.subject, *size))
            .label(fit.declaration, "a `dim` is the size of a tensor");
        return false;
      }
      return true;
    }
    if (name == "steps") return fit_steps(value, fit);
    if (name == "bool") return value.as<bool>() ? true : mismatch("a bool");
    if (name == "string") return value.as<std::string>() ? true : mismatch("a string");
    if (name == "f64" || name == "f32" || name == "f16" || name == "bf16") {
      if (auto number = as_number(value)) {
        value.data = *number;
        return true;
      }
      if (value.as<Dim>()) return true;
      return mismatch("a number",
                      as_tensor(value) ? fmt::format("a tensor parameter has dims, as in `{}[..S]`", name) : "");
    }
    if (name == "Init") {
      return value.as<InitValue>()
                 ? true
                 : mismatch("an initialiser", is_number(value) ? fmt::format("write `constant({})`", show(value)) : "");
    }
    if (name == "Schedule") {
      if (auto number = as_number(value)) {
        value.data = *number;
        return true;
      }
      const auto* instance = value.as<std::shared_ptr<ModuleInstance>>();
      return instance && has_forward(**instance)
                 ? true
                 : mismatch("a learning rate", "write a number or a schedule such as `warmup_cosine(...)`");
    }
    for (const auto& [word, kind] : quantity_types) {
      if (name != word) continue;
      const auto* quantity = value.as<Quantity>();
      if (quantity && quantity->kind == kind) return true;
      if (!quantity) return mismatch(fmt::format("a quantity of {}", to_string(kind)));
      report(diag::Kind::wrong_unit, value.range,
             fmt::format("{} must be a quantity of {}, found {}", fit.subject, to_string(kind), describe(value)))
          .label(fit.declaration, "declared here");
      return false;
    }
    if (auto dtype = dtype_of(named)) {
      if (!as_tensor(value)) return mismatch("a tensor");
      return fit_dtype(value, *dtype, named, fit);
    }
    declared = find(name, fit.scope);
  }
  if (declared && declared->is_poison()) return false;
  if (declared) {
    if (const auto* record = declared->as<RecordType>()) {
      const auto* found = value.as<std::shared_ptr<Record>>();
      return found && (*found)->name == record->decl->name.text
                 ? true
                 : mismatch(fmt::format("a record `{}`", record->decl->name.text));
    }
    if (const auto* module = declared->as<ModuleType>()) {
      const auto* found = value.as<std::shared_ptr<ModuleInstance>>();
      return found && (*found)->decl == module->decl
                 ? true
                 : mismatch(fmt::format("an instance of `{}`", module->decl->name.text));
    }
    if (const auto* enumeration = declared->as<EnumType>()) {
      const auto* found = value.as<EnumValue>();
      return found && found->enum_name == enumeration->decl->name.text
                 ? true
                 : mismatch(fmt::format("a value of `{}`", enumeration->decl->name.text));
    }
  }
  auto& diagnostic =
      report(diag::Kind::unknown_name, type.range, fmt::format("there is no type `{}`", named.base.to_string()));
  auto candidates = type_names;
  for (auto& known : fit.scope->all_names()) candidates.push_back(known);
  suggest(diagnostic, name, candidates);
  return false;
}

}  // namespace dtj::check
