#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// Blocks and statements.

namespace dtj::check {

Value Interpreter::run_block(const ast::Block& block, const ScopePtr& parent) {
  auto scope = std::make_shared<Scope>();
  scope->parent = parent;
  auto has_returned = [&] { return is_exhausted_ || (!frames_.empty() && frames_.back().returned.has_value()); };
  for (const auto& statement : block.statements) {
    run_statement(statement, scope);
    if (has_returned()) return {Poison{}, block.range};
  }
  if (!block.result) return {None{}, block.range};
  return evaluate(*block.result, scope);
}

void Interpreter::run_statement(const ast::Stmt& statement, const ScopePtr& scope) {
  if (const auto* let = std::get_if<ast::Let>(&statement.node)) return run_let(*let, scope, statement.range);
  if (const auto* loop = std::get_if<ast::For>(&statement.node)) return run_for(*loop, scope);
  if (const auto* check = std::get_if<ast::Check>(&statement.node)) return run_check(*check, scope, statement.range);
  if (const auto* assign = std::get_if<ast::Assign>(&statement.node))
    return run_assign(*assign, scope, statement.range);
  if (const auto* expr = std::get_if<ast::ExprStmt>(&statement.node)) {
    evaluate(*expr->value, scope);
    return;
  }
  const auto& ret = std::get<ast::Return>(statement.node);
  Value value = ret.value ? evaluate(*ret.value, scope) : Value{None{}, statement.range};
  if (frames_.empty()) {
    report(diag::Kind::wrong_type, statement.range, "`return` stands outside of a function");
  } else if (!frames_.back().returned) {
    frames_.back().returned = std::move(value);
  }
}

void Interpreter::run_let(const ast::Let& let, const ScopePtr& scope, source::Range) {
  Value value = evaluate(*let.value, scope);
  auto bind = [&](const ast::Name& name, Value bound) {
    scope->names[name.text] = std::move(bound);
    scope->declared[name.text] = name.range;
    if (let.is_mut)
      scope->mutables.insert(name.text);
    else
      scope->mutables.erase(name.text);
  };
  if (let.type && !value.is_poison()) {
    Fit to_type{scope, "the value", let.type->range, false};
    if (!fit(value, *let.type, to_type) || !fit_pending(to_type)) value.data = Poison{};
  }
  if (let.names.size() == 1) return bind(let.names[0], std::move(value));
  const std::vector<Value>* elements = nullptr;
  if (const auto* tuple = value.as<std::shared_ptr<Tuple>>()) elements = &(*tuple)->elements;
  if (const auto* list = value.as<std::shared_ptr<List>>()) elements = &(*list)->elements;
  if (elements && elements->size() == let.names.size()) {
    for (std::size_t i = 0; i < let.names.size(); ++i) bind(let.names[i], (*elements)[i]);
    return;
  }
  if (!value.is_poison() && !value.is_unbound()) {
    auto& diagnostic = report(diag::Kind::wrong_type, value.range,
                              fmt::format("{} names cannot be taken from {}", let.names.size(), describe(value)));
    diagnostic.label(source::join(let.names.front().range, let.names.back().range),
                     fmt::format("{} names", let.names.size()));
    if (as_tensor(value)) diagnostic.help("`split(x)` gives the entries of axis 0 as a tuple");
  }
  for (const auto& name : let.names) bind(name, {});
}

std::optional<std::vector<Value>> Interpreter::elements_of(const Value& sequence, const std::string& user) {
  if (const auto* list = sequence.as<std::shared_ptr<List>>()) return (*list)->elements;
  if (const auto* tuple = sequence.as<std::shared_ptr<Tuple>>()) return (*tuple)->elements;
  if (const auto* range = sequence.as<IntRange>()) {
    constexpr std::int64_t max_length = 100'000;
    if (range->end - range->begin > max_length) {
      report(diag::Kind::too_large, sequence.range, fmt::format("a range of {} is too long", range->end - range->begin))
          .note(fmt::format("a loop is unrolled at compile time; at most {} rounds are allowed", max_length));
      return std::nullopt;
    }
    std::vector<Value> values;
    for (std::int64_t i = range->begin; i < range->end; ++i) values.push_back({i, sequence.range});
    return values;
  }
  if (sequence.is_poison() || sequence.is_unbound()) return std::nullopt;
  auto& diagnostic = report(diag::Kind::wrong_type, sequence.range,
                            fmt::format("{} takes a list or a range, found {}", user, describe(sequence)));
  if (as_dim(sequence)) diagnostic.help(fmt::format("write `0..{}`", text_of(sequence.range)));
  return std::nullopt;
}

void Interpreter::run_for(const ast::For& loop, const ScopePtr& scope) {
  auto elements = elements_of(evaluate(*loop.sequence, scope), "`for`");
  if (!elements) {
    if (!frames_.empty() && !frames_.back().returned) frames_.back().returned = Value{};
    return;
  }
  for (auto& element : *elements) {
    auto round = std::make_shared<Scope>();
    round->parent = scope;
    round->names[loop.variable.text] = std::move(element);
    ++fuel_;
    run_block(*loop.body, round);
    if (is_exhausted_ || (!frames_.empty() && frames_.back().returned)) return;
  }
}

void Interpreter::run_check(const ast::Check& check, const ScopePtr& scope, source::Range range) {
  assume(*check.condition, scope);
  Value condition = evaluate(*check.condition, scope);
  if (condition.is_poison() || condition.is_unbound()) return;
  const auto* flag = condition.as<bool>();
  if (!flag) {
    report(diag::Kind::wrong_type, condition.range,
           fmt::format("`check` takes a condition that is known at compile time, found {}", describe(condition)));
  } else if (!*flag) {
    std::string text = fmt::format("the check `{}` does not hold", text_of(check.condition->range));
    if (check.message) {
      Value message = evaluate(*check.message, scope);
      if (const auto* written = message.as<std::string>()) text = *written;
    }
    report(diag::Kind::requirement_failed, range, text);
  }
}

void Interpreter::run_assign(const ast::Assign& assign, const ScopePtr& scope, source::Range range) {
  Value value = evaluate(*assign.value, scope);
  if (const auto slot = find_buffer(*assign.target, scope)) return assign_buffer(*slot, assign, std::move(value), range);
  const auto* name = std::get_if<ast::NameRef>(&assign.target->node);
  const auto* member = std::get_if<ast::Field>(&assign.target->node);
  const bool is_member = member && std::holds_alternative<ast::SelfRef>(member->base->node);
  if (!name && !is_member) {
    report(diag::Kind::cannot_assign, assign.target->range, "only a `mut` name or a state can be assigned")
        .note("tensors do not change: make a new one");
    return;
  }
  const std::string& target = name ? name->name : member->name.text;
  ScopePtr place = scope;
  while (place &&
         (place->names.find(target) == place->names.end() || (is_member && place->mutables.count(target) == 0))) {
    place = place->parent;
  }
  if (!place || place->mutables.count(target) == 0) {
    if (!place && name) {
      look_up(target, assign.target->range, scope);
      return;
    }
    auto& diagnostic =
        report(diag::Kind::cannot_assign, assign.target->range, fmt::format("`{}` cannot be assigned", target));
    if (place && place->declared.count(target) != 0) {
      diagnostic.label(place->declared[target], "declared here without `mut`");
      diagnostic.help(fmt::format("write `mut {} = ...;`", target));
    }
    return;
  }
  Value& old = place->names[target];
  if (assign.op != ast::AssignOp::set) {
    const auto op = assign.op == ast::AssignOp::add   ? ast::BinaryOp::add
                    : assign.op == ast::AssignOp::sub ? ast::BinaryOp::sub
                                                      : ast::BinaryOp::mul;
    Value before = old;
    before.range = assign.target->range;
    value = binary(op, before, value, range);
  }
  const auto* state = place->instance.lock() ? as_tensor(old) : nullptr;
  if (state && !value.is_poison() &&
      !fits_place(fmt::format("the state `{}`", target), *state, value, assign.value->range)) {
    value.data = Poison{};
  }
  old = std::move(value);
}

bool Interpreter::fits_place(const std::string& what, const TensorValue& old, const Value& value, source::Range range) {
  const auto* tensor = as_tensor(value);
  const std::string found = fmt::format("{} is {}, found {}", what, to_string(old.dtype, old.dims), describe(value));
  if (!tensor || tensor->dtype != old.dtype) {
    report(diag::Kind::dtype_mismatch, range, found).help(fmt::format("write `... as {}`", to_string(old.dtype)));
    return false;
  }
  if (tensor->dims.size() == old.dims.size() &&
      std::equal(old.dims.begin(), old.dims.end(), tensor->dims.begin(),
                 [](const Dim& a, const Dim& b) { return are_equal(a, b) != Truth::no; }))
    return true;
  report(diag::Kind::shape_mismatch, range, found);
  return false;
}

}  // namespace dtj::check
