#include "compiler/check/sections_read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/check/evaluator.hpp"

namespace dtj::check {
namespace {

Value with_range(Value::Data data, source::Range range) {
  Value value;
  value.data = std::move(data);
  value.range = range;
  return value;
}

Value poison(source::Range range) { return with_range(Poison{}, range); }

bool is_silent(const Value& value) { return value.is_poison() || value.is_unbound(); }

std::string_view noun(KeyType type) {
  switch (type) {
    case KeyType::integer: return "an integer";
    case KeyType::number: return "a number";
    case KeyType::boolean: return "`true` or `false`";
    case KeyType::text: return "text";
    case KeyType::word: return "a plain name";
    case KeyType::words: return "a list of names";
    case KeyType::quantity:
    case KeyType::count: return "a quantity";
    case KeyType::value:
    case KeyType::written: return "a value";
  }
  return "";
}

diag::Diagnostic& report_type(const KeySchema& key, const Value& value, diag::Sink& sink) {
  return sink.report({diag::Kind::wrong_type, value.range, fmt::format("`{}` takes {}, found {}", key.name, noun(key.type), describe(value))})
      .help(fmt::format("for example `{} = {}`", key.name, key.example));
}

Value check_limits(const KeySchema& key, Value value, double number, diag::Sink& sink) {
  const bool is_small = key.minimum && number < *key.minimum;
  const bool is_large = key.maximum && number > *key.maximum;
  if (!is_small && !is_large) return value;
  const double limit = is_small ? *key.minimum : *key.maximum;
  sink.report({diag::Kind::out_of_range, value.range,
               fmt::format("`{}` must be at {} {}, found {}", key.name, is_small ? "least" : "most", spell(limit), spell(number))})
      .help(fmt::format("nearest valid: `{} = {}`", key.name, spell(limit)));
  return poison(value.range);
}

Value read_integer_value(const KeySchema& key, Value value, diag::Sink& sink) {
  if (const auto* integer = value.as<std::int64_t>()) return check_limits(key, value, static_cast<double>(*integer), sink);
  if (const auto* quantity = value.as<Quantity>()) {
    sink.report({diag::Kind::wrong_unit, value.range, fmt::format("`{}` takes a plain integer, found {}", key.name, describe(quantity->kind))})
        .help(fmt::format("write `{} = {}`", key.name, spell(quantity->amount)));
    return poison(value.range);
  }
  const auto* real = value.as<double>();
  if (real != nullptr && *real == std::floor(*real)) {
    sink.report({diag::Kind::wrong_type, value.range, fmt::format("`{}` takes an integer, found a floating-point number", key.name)})
        .help(fmt::format("write `{} = {}`", key.name, spell(*real)));
    return poison(value.range);
  }
  report_type(key, value, sink);
  return poison(value.range);
}

Value read_number_value(const KeySchema& key, Value value, diag::Sink& sink) {
  if (const auto* integer = value.as<std::int64_t>()) value.data = static_cast<double>(*integer);
  if (const auto* real = value.as<double>()) {
    const double number = *real;
    return check_limits(key, std::move(value), number, sink);
  }
  report_type(key, value, sink);
  return poison(value.range);
}

Value read_quantity_value(const KeySchema& key, Value value, diag::Sink& sink) {
  if (const auto* integer = value.as<std::int64_t>(); integer != nullptr && key.type == KeyType::count)
    value.data = Quantity{static_cast<double>(*integer), key.units.front()};
  const auto quantity = expect_quantity(value, key.units, key.name, sink);
  if (!quantity) return poison(value.range);

  const double least = key.minimum.value_or(0);
  if (quantity->amount <= 0 || quantity->amount < least) {
    auto& report = sink.report({diag::Kind::out_of_range, value.range, fmt::format("`{}` must be positive, found {}", key.name, spell(*quantity))});
    if (quantity->amount > 0) report.message = fmt::format("`{}` must be at least {}, found {}", key.name, spell(Quantity{least, quantity->kind}), spell(*quantity));
    report.help(fmt::format("for example `{} = {}`", key.name, key.example));
    return poison(value.range);
  }
  if (!check_largest(*quantity, key.maximum, key.name, value.range, sink)) return poison(value.range);
  const bool is_counted = quantity->kind == UnitKind::step || quantity->kind == UnitKind::sample || quantity->kind == UnitKind::tok;
  if (is_counted && quantity->amount != std::floor(quantity->amount)) {
    sink.report({diag::Kind::out_of_range, value.range, fmt::format("`{}` counts whole {}s, found {}", key.name, to_string(quantity->kind), spell(*quantity))})
        .help(fmt::format("nearest valid: `{} = {}`", key.name, spell(Quantity{std::max(1.0, std::round(quantity->amount)), quantity->kind})));
    return poison(value.range);
  }
  return with_range(*quantity, value.range);
}

}  // namespace

bool check_largest(const Quantity& quantity, std::optional<double> maximum, std::string_view key, source::Range range, diag::Sink& sink) {
  // A thousand million million steps, 30 years: far from any real job, and products of two still fit.
  const double largest = maximum.value_or(quantity.kind == UnitKind::time ? 946'080'000 : 1e15);
  if (quantity.amount <= largest) return true;
  const std::string limit = spell(Quantity{largest, quantity.kind});
  sink.report({diag::Kind::out_of_range, range, fmt::format("`{}` must be at most {}, found {}", key, limit, spell(quantity))})
      .help(fmt::format("nearest valid: `{} = {}`", key, limit));
  return false;
}

namespace {

std::vector<std::string> words_of(const KeySchema& key) { return {key.words.begin(), key.words.end()}; }

Value check_word(const KeySchema& key, const std::string& word, source::Range range, diag::Sink& sink) {
  if (key.words.empty() || std::find(key.words.begin(), key.words.end(), word) != key.words.end()) return with_range(word, range);
  const bool is_list = key.type == KeyType::words;
  auto& report = sink.report({diag::Kind::unknown_word, range, fmt::format("`{}` {} `{}`", key.name, is_list ? "cannot hold" : "cannot be", word)});
  suggest(report, word, words_of(key));
  return poison(range);
}

/// A plain name is data here, so it is read from the tree: nothing of this name need be declared.
Value read_word(const ast::Expr& expr, const KeySchema& key, const ReadContext& context) {
  if (const auto* name = std::get_if<ast::NameRef>(&expr.node)) return check_word(key, name->name, expr.range, *context.sink);
  if (std::holds_alternative<ast::NoneLit>(expr.node)) return check_word(key, "none", expr.range, *context.sink);
  if (std::holds_alternative<ast::ErrorExpr>(expr.node)) return poison(expr.range);
  if (const auto* call = std::get_if<ast::Call>(&expr.node); call != nullptr && !key.arguments.empty())
    if (const auto* callee = std::get_if<ast::NameRef>(&call->callee->node)) {
      Value word = check_word(key, callee->name, call->callee->range, *context.sink);
      word.range = expr.range;
      return word;
    }
  if (const auto* text = std::get_if<ast::StringLit>(&expr.node)) {
    if (key.type == KeyType::words) return check_word(key, text->value, expr.range, *context.sink);
    context.sink->report({diag::Kind::wrong_type, expr.range, fmt::format("`{}` takes a plain name, found a string", key.name)})
        .help(fmt::format("write `{} = {}`", key.name, text->value))
        .fix(expr.range, text->value);
    return poison(expr.range);
  }
  Value value = context.evaluator->evaluate(expr, context.scope);
  if (is_silent(value)) return value;
  if (const auto* text = value.as<std::string>(); text != nullptr && std::holds_alternative<ast::PlaceholderRef>(expr.node))
    return check_word(key, *text, expr.range, *context.sink);
  report_type(key, value, *context.sink);
  return poison(expr.range);
}

Value read_word_list(const ast::Expr& expr, const KeySchema& key, const ReadContext& context) {
  if (std::holds_alternative<ast::ErrorExpr>(expr.node)) return poison(expr.range);
  const auto* literal = std::get_if<ast::ListLit>(&expr.node);
  if (literal == nullptr) {
    context.sink->report({diag::Kind::wrong_type, expr.range, fmt::format("`{}` takes a list of names", key.name)})
        .help(fmt::format("for example `{} = {}`", key.name, key.example));
    return poison(expr.range);
  }
  auto list = std::make_shared<List>();
  bool is_good = true;
  for (const ast::ExprPtr& element : literal->elements) {
    list->elements.push_back(read_word(*element, key, context));
    is_good = is_good && !is_silent(list->elements.back());
  }
  return is_good ? with_range(std::move(list), expr.range) : poison(expr.range);
}

Value read_evaluated(const ast::Expr& expr, const KeySchema& key, const ReadContext& context) {
  Value value = context.evaluator->evaluate(expr, context.scope);
  value.range = expr.range;
  if (is_silent(value)) return value;
  switch (key.type) {
    case KeyType::integer: return read_integer_value(key, std::move(value), *context.sink);
    case KeyType::number: return read_number_value(key, std::move(value), *context.sink);
    case KeyType::quantity:
    case KeyType::count: return read_quantity_value(key, std::move(value), *context.sink);
    case KeyType::boolean:
      if (value.as<bool>() != nullptr) return value;
      break;
    case KeyType::text:
      if (value.as<std::string>() != nullptr) return value;
      break;
    case KeyType::value:
    case KeyType::word:
    case KeyType::words:
    case KeyType::written: return value;
  }
  report_type(key, value, *context.sink);
  return poison(expr.range);
}

bool is_home_path(std::string_view text) {
  const auto starts = [&](std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; };
  return starts("/home/") || starts("/Users/") || starts("/root/") || starts("$HOME") || starts("${HOME}") || text == "~" || starts("~/");
}

}  // namespace

void warn_of_home_paths(const ast::Expr& expr, diag::Sink& sink) {
  if (const auto* text = std::get_if<ast::StringLit>(&expr.node)) {
    if (!is_home_path(text->value)) return;
    sink.report({diag::Kind::home_path, expr.range, "this path names a home folder, which other people do not have"})
        .help("use a placeholder: `bind <dir>: path.dir \"what it holds\";`, here `<dir>`, and `--bind dir=...`");
  } else if (const auto* call = std::get_if<ast::Call>(&expr.node)) {
    for (const ast::Arg& arg : call->args)
      if (arg.value) warn_of_home_paths(*arg.value, sink);
  } else if (const auto* sum = std::get_if<ast::Binary>(&expr.node)) {
    warn_of_home_paths(*sum->lhs, sink);
    warn_of_home_paths(*sum->rhs, sink);
  }
}

std::vector<Entry> read_arguments(const ast::Setting& setting, const KeySchema& key, const ReadContext& context) {
  std::vector<Entry> entries;
  const auto* call = setting.value ? std::get_if<ast::Call>(&setting.value->node) : nullptr;
  const auto* callee = call != nullptr && call->callee ? std::get_if<ast::NameRef>(&call->callee->node) : nullptr;
  const bool is_word = callee != nullptr && std::find(key.words.begin(), key.words.end(), callee->name) != key.words.end();
  if (key.type != KeyType::word || !is_word) return entries;
  std::vector<std::string> known;
  for (const KeySchema& each : key.arguments)
    if (each.of_word.empty() || each.of_word == callee->name) known.emplace_back(each.name);
  for (const ast::Arg& arg : call->args) {
    const bool is_known = arg.name && std::find(known.begin(), known.end(), arg.name->text) != known.end();
    if (!is_known) {
      auto& report = context.sink->report({diag::Kind::unknown_key, arg.name ? arg.name->range : arg.value->range,
                                           arg.name ? fmt::format("`{}` takes no argument `{}`", callee->name, arg.name->text)
                                                    : fmt::format("the arguments of `{}` are written with their names", callee->name)});
      if (known.empty())
        report.help(fmt::format("write `{} = {}`", key.name, callee->name));
      else
        suggest(report, arg.name ? arg.name->text : "", known);
      continue;
    }
    const auto schema = std::find_if(key.arguments.begin(), key.arguments.end(), [&](const KeySchema& each) {
      return each.name == arg.name->text && (each.of_word.empty() || each.of_word == callee->name);
    });
    const auto earlier = std::find_if(entries.begin(), entries.end(), [&](const Entry& each) { return each.key == &*schema; });
    if (earlier != entries.end()) {
      context.sink->report({diag::Kind::duplicate_key, arg.name->range, fmt::format("`{}` is given twice", arg.name->text)})
          .label(earlier->value.range, "given here first")
          .help("keep one of the two");
      continue;
    }
    Value value = read_value(*arg.value, *schema, context);
    value.range = source::join(arg.name->range, arg.value->range);
    entries.push_back({&setting, &*schema, std::move(value), {}, {}, context.scope});
  }
  return entries;
}

Value read_entry(const ast::Setting& setting, const KeySchema& key, const ReadContext& context) {
  return setting.value ? read_value(*setting.value, key, context) : poison(setting.range);
}

Value read_value(const ast::Expr& expr, const KeySchema& key, const ReadContext& context) {
  if (key.is_path) warn_of_home_paths(expr, *context.sink);
  switch (key.type) {
    case KeyType::word: return read_word(expr, key, context);
    case KeyType::words: return read_word_list(expr, key, context);
    case KeyType::written: return with_range(None{}, expr.range);
    case KeyType::integer:
    case KeyType::number:
    case KeyType::boolean:
    case KeyType::text:
    case KeyType::quantity:
    case KeyType::count:
    case KeyType::value: return read_evaluated(expr, key, context);
  }
  return poison(expr.range);
}

}  // namespace dtj::check
