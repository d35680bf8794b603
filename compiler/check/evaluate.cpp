#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"
#include "compiler/check/units.hpp"

// Expressions.

namespace dtj::check {

namespace {

constexpr std::uint64_t max_fuel = 4'000'000;
constexpr std::uint32_t max_depth = 800;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace

Value Interpreter::evaluate(const ast::Expr& expr, const ScopePtr& scope) {
  if (is_exhausted_) return {Poison{}, expr.range};
  if (++fuel_ > max_fuel || depth_ >= max_depth) {
    report(diag::Kind::too_large, expr.range,
           depth_ >= max_depth ? fmt::format("the expression nests deeper than {}", max_depth)
                               : fmt::format("the elaboration takes more than {} expressions", max_fuel))
        .note("loops, ranges and lists are unrolled at compile time");
    is_exhausted_ = true;
    return {Poison{}, expr.range};
  }
  ++depth_;
  Value value = evaluate_node(expr, scope);
  --depth_;
  value.range = expr.range;
  if (on_value) on_value(expr.range, value);
  return value;
}

Value Interpreter::evaluate_placeholder(const std::string& name, source::Range range) {
  used_placeholders.insert(name);
  if (auto value = bound_.find(name); value != bound_.end()) {
    if (value->second.as<Secret>() == nullptr || allows_secrets) return value->second;
    report(diag::Kind::secret_exposed, range, fmt::format("the secret `<{}>` cannot stand here", name))
        .note("the plan, the checkpoints and the messages of a run hold the values of its settings, and others read them")
        .help(fmt::format("use a placeholder of another type, for example `bind <{}>: string;`", name));
    return {};
  }
  auto bind = binds_.find(name);
  if (bind != binds_.end()) {
    if (bind->second->default_value) return evaluate(*bind->second->default_value, prelude());
    return {Unbound{name}, range};
  }
  auto& diagnostic =
      report(diag::Kind::unknown_name, range, fmt::format("the file declares no placeholder `<{}>`", name));
  std::vector<std::string> candidates;
  for (const auto& [known, decl] : binds_) candidates.push_back(known);
  if (auto near = diag::nearest(name, candidates))
    diagnostic.help(fmt::format("did you mean `<{}>`?", *near));
  else
    diagnostic.help(fmt::format("declare it: `bind <{}>: string;`", name));
  return {};
}

Value Interpreter::evaluate_node(const ast::Expr& expr, const ScopePtr& scope) {
  const source::Range range = expr.range;
  auto all = [&](const std::vector<ast::ExprPtr>& exprs) {
    std::vector<Value> values;
    for (const auto& element : exprs) values.push_back(evaluate(*element, scope));
    return values;
  };
  return std::visit(
      Overloaded{
          [&](const ast::IntLit& node) {
            return Value{node.value, range};
          },
          [&](const ast::FloatLit& node) {
            return Value{node.value, range};
          },
          [&](const ast::QuantityLit& node) {
            if (auto quantity = resolve_unit(node.value, node.unit)) return Value{*quantity, range};
            report_unknown_unit(node.unit, range, *sink);
            return Value{};
          },
          [&](const ast::StringLit& node) {
            return Value{node.value, range};
          },
          [&](const ast::BoolLit& node) {
            return Value{node.value, range};
          },
          [&](const ast::NoneLit&) {
            return Value{None{}, range};
          },
          [&](const ast::PlaceholderRef& node) { return evaluate_placeholder(node.name, range); },
          [&](const ast::NameRef& node) { return look_up(node.name, range, scope); },
          [&](const ast::SelfRef&) {
            for (ScopePtr place = scope; place; place = place->parent) {
              if (auto instance = place->instance.lock()) return Value{instance, range};
            }
            report(diag::Kind::unknown_name, range, "`self` is known only inside a module");
            return Value{};
          },
          [&](const ast::Field& node) {
            if (std::holds_alternative<ast::SelfRef>(node.base->node)) {
              // A state that is being updated stands before the members.
              for (ScopePtr place = scope; place; place = place->parent) {
                if (place->mutables.count(node.name.text) == 0 || !place->instance.lock()) continue;
                return place->names[node.name.text];
              }
            }
            return field(evaluate(*node.base, scope), node.name);
          },
          [&](const ast::Call& node) { return evaluate_call(node, scope, range); },
          [&](const ast::Subscript& node) { return subscript(evaluate(*node.base, scope), node, scope, range); },
          [&](const ast::Unary& node) { return unary(node.op, evaluate(*node.operand, scope), range); },
          [&](const ast::Binary& node) {
            if (node.op == ast::BinaryOp::logical_and || node.op == ast::BinaryOp::logical_or) {
              return evaluate_logic(node, scope, range);
            }
            Value lhs = evaluate(*node.lhs, scope);
            return binary(node.op, lhs, evaluate(*node.rhs, scope), range);
          },
          [&](const ast::Pipe& node) { return evaluate_pipe(node, scope, range); },
          [&](const ast::Cast& node) { return cast(evaluate(*node.value, scope), *node.type, scope, range); },
          [&](const ast::If& node) { return evaluate_if(node, scope, range); },
          [&](const ast::TupleLit& node) {
            return Value{std::make_shared<Tuple>(Tuple{all(node.elements)}), range};
          },
          [&](const ast::ListLit& node) {
            return Value{std::make_shared<List>(List{all(node.elements)}), range};
          },
          [&](const ast::RecordLit& node) {
            auto record = std::make_shared<Record>();
            for (const auto& [name, value] : node.fields) {
              if (record->find(name.text)) {
                report(diag::Kind::duplicate_name, name.range, fmt::format("the field `{}` is given twice", name.text));
                continue;
              }
              record->fields.emplace_back(name.text, evaluate(*value, scope));
            }
            return Value{record, range};
          },
          [&](const ast::ErrorExpr&) { return Value{}; },
      },
      expr.node);
}

std::vector<Argument> Interpreter::evaluate_args(const std::vector<ast::Arg>& args, const ScopePtr& scope) {
  std::vector<Argument> values;
  for (const auto& arg : args) values.push_back({arg.name, evaluate(*arg.value, scope)});
  return values;
}

Value Interpreter::evaluate_call(const ast::Call& node, const ScopePtr& scope, source::Range range) {
  Value callee = evaluate(*node.callee, scope);
  return call(callee, evaluate_args(node.args, scope), range);
}

Value Interpreter::evaluate_pipe(const ast::Pipe& node, const ScopePtr& scope, source::Range range) {
  std::vector<Argument> args;
  args.push_back({std::nullopt, evaluate(*node.value, scope)});
  if (const auto* inner = std::get_if<ast::Call>(&node.function->node)) {
    Value callee = evaluate(*inner->callee, scope);
    for (auto& arg : evaluate_args(inner->args, scope)) args.push_back(std::move(arg));
    return call(callee, std::move(args), range);
  }
  return call(evaluate(*node.function, scope), std::move(args), range);
}

Value Interpreter::evaluate_if(const ast::If& node, const ScopePtr& scope, source::Range range) {
  Value condition = evaluate(*node.condition, scope);
  if (const auto* flag = condition.as<bool>()) {
    if (*flag) return run_block(*node.then_block, scope);
    return node.else_block ? run_block(*node.else_block, scope) : Value{None{}, range};
  }
  if (as_tensor(condition)) {
    report(diag::Kind::wrong_type, condition.range, fmt::format("the condition of `if` is {}", describe(condition)))
        .note("`if` chooses at compile time")
        .help("write `where(condition, a, b)` to choose element by element");
  } else if (!condition.is_poison() && !condition.is_unbound()) {
    report(diag::Kind::wrong_type, condition.range,
           fmt::format("the condition of `if` is {}, not a bool", describe(condition)));
  }
  if (condition.is_unbound() && frames_.empty()) return condition;
  // Which branch is taken is not known, so nothing after it is.
  if (!frames_.empty() && !frames_.back().returned) frames_.back().returned = Value{};
  return {};
}

Value Interpreter::evaluate_logic(const ast::Binary& node, const ScopePtr& scope, source::Range range) {
  const bool is_and = node.op == ast::BinaryOp::logical_and;
  Value lhs = evaluate(*node.lhs, scope);
  if (const auto* flag = lhs.as<bool>(); flag && *flag != is_and) return {*flag, range};
  Value rhs = evaluate(*node.rhs, scope);
  if (lhs.is_poison() || rhs.is_poison()) return {};
  if (as_tensor(lhs) || as_tensor(rhs)) {
    return emit_binary(is_and ? TraceOp::logical_and : TraceOp::logical_or, lhs, rhs, range);
  }
  for (const Value* side : {&lhs, &rhs}) {
    if (side->as<bool>() || side->is_unbound()) continue;
    report(diag::Kind::wrong_type, side->range,
           fmt::format("`{}` takes bools, found {}", is_and ? "and" : "or", describe(*side)));
    return {};
  }
  if (lhs.is_unbound()) return lhs;
  return rhs;
}

}  // namespace dtj::check
