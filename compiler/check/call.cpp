#include <set>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"
#include "compiler/check/interpreter.hpp"

// Calls: which argument goes to which parameter, and what happens then.

namespace dtj::check {

namespace {

/// Whether a type has a dim of this name.
bool names_dim(const ast::TypeExpr& type, const std::string& name) {
  const auto* named = std::get_if<ast::NamedType>(&type.node);
  if (!named || !named->dims) return false;
  return std::any_of(named->dims->begin(), named->dims->end(), [&](const ast::DimExpr& dim) {
    const auto* written = dim.size ? std::get_if<ast::NameRef>(&dim.size->node) : nullptr;
    return written && written->name == name;
  });
}

std::string signature_of(const std::vector<ast::Param>& params) {
  std::string text;
  for (const auto& param : params) text += (text.empty() ? "" : ", ") + param.name.text;
  return text;
}

void collect_names(const ast::Expr& expr, std::set<std::string>& names) {
  if (const auto* name = std::get_if<ast::NameRef>(&expr.node)) names.insert(name->name);
  if (const auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    collect_names(*binary->lhs, names);
    collect_names(*binary->rhs, names);
  }
  if (const auto* unary = std::get_if<ast::Unary>(&expr.node)) collect_names(*unary->operand, names);
  if (const auto* call = std::get_if<ast::Call>(&expr.node)) {
    for (const auto& arg : call->args) collect_names(*arg.value, names);
  }
}

/// The divisors of `whole` next to `near` on either side.
std::string nearest_divisors(std::int64_t near, std::int64_t whole) {
  std::int64_t below = 0;
  std::int64_t above = 0;
  for (std::int64_t i = 1; i <= whole && i < 100'000; ++i) {
    if (whole % i != 0) continue;
    if (i < near) below = i;
    if (i > near && above == 0) above = i;
  }
  if (below == 0) return std::to_string(above);
  return above == 0 ? std::to_string(below) : fmt::format("{} or {}", below, above);
}

}  // namespace

Value Interpreter::call(const Value& callee, std::vector<Argument> args, source::Range range) {
  if (callee.is_poison() || callee.is_unbound()) return callee;
  if (const auto* function = callee.as<std::shared_ptr<Function>>())
    return call_function(**function, std::move(args), range);
  if (const auto* type = callee.as<ModuleType>()) return instantiate(*type, std::move(args), range);
  if (const auto* type = callee.as<RecordType>()) return make_record(*type, std::move(args), range);
  if (const auto* instance = callee.as<std::shared_ptr<ModuleInstance>>()) {
    return call_method(*instance, "forward", std::move(args), range);
  }
  auto& diagnostic = report(diag::Kind::wrong_type, callee.range, fmt::format("{} cannot be called", describe(callee)));
  if (callee.as<std::shared_ptr<List>>()) diagnostic.help("call its elements: `for f in ... { x = f(x); }`");
  return {};
}

Value Interpreter::call_method(const std::shared_ptr<ModuleInstance>& instance, const std::string& name,
                               std::vector<Argument> args, source::Range range) {
  auto method = find_here(name, instance->members);
  const auto* function = method ? method->as<std::shared_ptr<Function>>() : nullptr;
  if (!function) {
    report(diag::Kind::unknown_name, range,
           fmt::format("the module `{}` has no function `{}`", instance->decl->name.text, name))
        .label(instance->decl->name.range, "declared here");
    return {};
  }
  return call_function(**function, std::move(args), range);
}

bool Interpreter::match_arguments(const std::vector<ast::Param>& params, std::vector<Argument>& args,
                                  const std::string& callee, source::Range declaration, source::Range range,
                                  const ScopePtr& into) {
  std::vector<std::optional<Value>> values(params.size());
  std::size_t num_positional = 0;
  bool good = true;
  bool saw_name = false;
  for (auto& arg : args) {
    std::size_t place = num_positional;
    if (arg.name) {
      saw_name = true;
      place = 0;
      while (place < params.size() && params[place].name.text != arg.name->text) ++place;
      if (place == params.size()) {
        good = false;
        auto& diagnostic = report(diag::Kind::wrong_argument, arg.name->range,
                                  fmt::format("`{}` has no parameter `{}`", callee, arg.name->text));
        diagnostic.label(declaration, fmt::format("takes ({})", signature_of(params)));
        std::vector<std::string> names;
        for (const auto& param : params) names.push_back(param.name.text);
        if (auto near = diag::nearest(arg.name->text, names)) {
          diagnostic.help(fmt::format("did you mean `{}`?", *near)).fix(arg.name->range, *near, diag::Applicability::maybe_incorrect);
        }
        continue;
      }
    } else if (saw_name) {
      good = false;
      report(diag::Kind::wrong_argument, arg.value.range, "an argument without a name stands after one with a name");
      continue;
    } else {
      ++num_positional;
    }
    if (place >= params.size()) {
      good = false;
      report(diag::Kind::wrong_argument, arg.value.range,
             fmt::format("`{}` takes {} argument{}, found {}", callee, params.size(), params.size() == 1 ? "" : "s",
                         args.size()))
          .label(declaration, fmt::format("takes ({})", signature_of(params)));
      break;
    }
    if (values[place]) {
      good = false;
      report(diag::Kind::wrong_argument, arg.name ? arg.name->range : arg.value.range,
             fmt::format("the argument `{}` of `{}` is given twice", params[place].name.text, callee))
          .label(values[place]->range, "first given here");
      continue;
    }
    values[place] = std::move(arg.value);
  }
  if (!good) return false;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!values[i] && params[i].default_value) values[i] = evaluate(*params[i].default_value, into);
    if (!values[i]) {
      missing.push_back("`" + params[i].name.text + "`");
      continue;
    }
    into->names[params[i].name.text] = std::move(*values[i]);
  }
  if (missing.empty()) return true;
  report(diag::Kind::wrong_argument, range,
         fmt::format("`{}` misses its argument{} {}", callee, missing.size() == 1 ? "" : "s", fmt::join(missing, ", ")))
      .label(declaration, fmt::format("takes ({})", signature_of(params)));
  return false;
}

bool Interpreter::check_where(const std::vector<ast::ExprPtr>& clauses, const ScopePtr& scope,
                              const std::string& subject, source::Range range) {
  bool good = true;
  for (const auto& clause : clauses) assume(*clause, scope);
  for (const auto& clause : clauses) {
    Value value = evaluate(*clause, scope);
    if (value.is_unbound()) continue;
    const auto* flag = value.as<bool>();
    if (flag && *flag) continue;
    good = false;
    if (value.is_poison()) continue;
    if (!flag) {
      report(diag::Kind::wrong_type, clause->range,
             fmt::format("a `where` clause is a bool, found {}", describe(value)));
      continue;
    }
    std::set<std::string> names;
    collect_names(*clause, names);
    std::vector<std::string> known;
    for (const auto& name : names) {
      if (auto found = find(name, scope); found && is_number(*found))
        known.push_back(fmt::format("{} = {}", name, show(*found)));
    }
    auto& diagnostic =
        report(diag::Kind::requirement_failed, range, fmt::format("`{}` needs `{}`", subject, text_of(clause->range)));
    diagnostic.under(fmt::format("{}", fmt::join(known, ", "))).label(clause->range, "required here");
    const auto* binary = std::get_if<ast::Binary>(&clause->node);
    if (!binary || binary->op != ast::BinaryOp::divides) continue;
    const Value part = evaluate(*binary->lhs, scope);
    const Value whole = evaluate(*binary->rhs, scope);
    if (!part.as<std::int64_t>() || !whole.as<std::int64_t>()) continue;
    diagnostic.help(fmt::format("the nearest valid value of `{}` is {}", text_of(binary->lhs->range),
                                nearest_divisors(*part.as<std::int64_t>(), *whole.as<std::int64_t>())));
  }
  return good;
}

// The result's dims are sizes that the arguments or the module know. A pack (`..L`) may stay open: any shape.
bool Interpreter::check_result_dims(const ast::FnDecl& decl, const ScopePtr& scope) {
  const auto* named = std::get_if<ast::NamedType>(&decl.result_type->node);
  if (!named || !named->dims) return true;
  const auto is_bound_by_argument = [&](const std::string& name) {
    return std::any_of(decl.params.begin(), decl.params.end(),
                       [&](const ast::Param& param) { return param.type && names_dim(*param.type, name); });
  };
  for (const auto& dim : *named->dims) {
    const auto* name = dim.size ? std::get_if<ast::NameRef>(&dim.size->node) : nullptr;
    if (!name || is_bound_by_argument(name->name) || find(name->name, scope)) continue;
    report(diag::Kind::unbound_dim, dim.range,
           fmt::format("the dim `{}` of the result of `{}` has no size", name->name, decl.name.text))
        .note("a dim takes its size from an argument that has it, or from a parameter of the module")
        .help("write its size, for example `2 * C`, or leave the type of the result out");
    return false;
  }
  return true;
}

// By the name that the library gives to such a parameter. -1 is no target of a sample: it leaves nothing out.
void Interpreter::note_uneven_mean(const Scope& arguments, source::Range range) {
  const auto ignore = arguments.names.find("ignore");
  if (!recording_ || recording_->trace.uneven_mean || ignore == arguments.names.end()) return;
  const auto* number = ignore->second.as<std::int64_t>();
  if (number && *number != -1) recording_->trace.uneven_mean = range;
}

Value Interpreter::call_function(const Function& function, std::vector<Argument> args, source::Range range,
                                 const ScopePtr& overlay) {
  if (!function.primitive.empty()) {
    return call_primitive(*this, *find_primitive(function.primitive), std::move(args), range);
  }
  const ast::FnDecl& decl = *function.decl;
  if (!is_valid_function(decl)) return {};
  const std::string callee = function.self ? function.self->decl->name.text + "." + decl.name.text : decl.name.text;
  auto scope = std::make_shared<Scope>();
  scope->parent = overlay ? overlay : function.scope;
  if (!match_arguments(decl.params, args, callee, decl.name.range, range, scope)) return {};
  for (const auto& [name, value] : scope->names) {
    if (value.is_poison()) return {};
  }
  if (decl.result_type && !check_result_dims(decl, scope)) return {};
  note_uneven_mean(*scope, range);
  if (!enter(callee, range)) return {};
  Fit to_params{scope, "", {}, true};
  bool good = true;
  for (const auto& param : decl.params) {
    if (!param.type) continue;
    to_params.subject = fmt::format("argument `{}` of `{}`", param.name.text, callee);
    to_params.declaration = source::join(param.name.range, param.type->range);
    Value& value = scope->names[param.name.text];
    if (value.range.is_none) value.range = range;
    good = fit(value, *param.type, to_params) && good;
  }
  good = good && fit_pending(to_params);
  good = good && check_where(decl.where, scope, callee, range);
  Value result;
  if (good) {
    result = run_block(*decl.body, scope);
    if (frames_.back().returned) result = *frames_.back().returned;
    if (decl.result_type && !result.is_poison()) {
      Fit to_result{scope, fmt::format("the result of `{}`", callee), decl.result_type->range, true};
      if (!fit(result, *decl.result_type, to_result) || !fit_pending(to_result)) result = {};
    }
  }
  leave();
  return result;
}

}  // namespace dtj::check
