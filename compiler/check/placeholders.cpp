#include "compiler/check/placeholders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "compiler/check/evaluator.hpp"
#include "compiler/check/sections.hpp"
#include "compiler/check/sections_read.hpp"

namespace dtj::check {
namespace {

/// What a placeholder type's value is made of.
enum class Form : std::uint8_t { path, word, integer, number, port, duration, bytes, text, secret };

struct TypeRow {
  std::string_view name;
  Form form;
  std::string_view noun;
  std::string_view example;
};

constexpr std::array type_rows = {
    TypeRow{"path.dir", Form::path, "a path", "/data"},
    TypeRow{"path.file", Form::path, "a path", "/data/text.txt"},
    TypeRow{"path.any", Form::path, "a path", "/data"},
    TypeRow{"slurm.partition", Form::word, "a partition name", "gpu"},
    TypeRow{"slurm.account", Form::word, "an account name", "project1"},
    TypeRow{"slurm.qos", Form::word, "a quality-of-service name", "normal"},
    TypeRow{"host", Form::word, "a host name", "node1"},
    TypeRow{"port", Form::port, "a port from 1 to 65535", "29500"},
    TypeRow{"duration", Form::duration, "a duration", "4h"},
    TypeRow{"bytes", Form::bytes, "a number of bytes", "16GiB"},
    TypeRow{"int", Form::integer, "an integer", "4"},
    TypeRow{"float", Form::number, "a number", "0.1"},
    TypeRow{"string", Form::text, "text", "name"},
    TypeRow{"secret", Form::secret, "a secret", "..."},
};

const TypeRow* find_type(std::string_view name) {
  for (const TypeRow& row : type_rows)
    if (row.name == name) return &row;
  return nullptr;
}

std::string type_name(const ast::BindDecl& bind) {
  if (!bind.type) return "";
  const auto* named = std::get_if<ast::NamedType>(&bind.type->node);
  return named != nullptr ? named->base.to_string() : "";
}

std::string without_underscores(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  return digits;
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  const std::string digits = without_underscores(text);
  T number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_finite(std::string_view text) {
  const auto number = parse_whole<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<Quantity> parse_quantity(std::string_view text, UnitKind kind) {
  const std::size_t unit_at = text.find_first_not_of("0123456789_.");
  if (unit_at == std::string_view::npos) return std::nullopt;
  const auto number = parse_finite(text.substr(0, unit_at));
  if (!number) return std::nullopt;
  const auto quantity = resolve_unit(*number, text.substr(unit_at));
  return quantity && quantity->kind == kind ? quantity : std::nullopt;
}

bool is_word(const std::string& text) {
  const auto is_word_char = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ',' || c == ':'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word_char);
}

Value of(Value::Data data) {
  Value value;
  value.data = std::move(data);
  return value;
}

std::optional<Value> parse_form(Form form, const std::string& text) {
  switch (form) {
    case Form::path: return text.empty() ? std::nullopt : std::optional(of(text));
    case Form::word: return is_word(text) ? std::optional(of(text)) : std::nullopt;
    case Form::text:
    case Form::secret: return of(text);
    case Form::integer: {
      const auto number = parse_whole<std::int64_t>(text);
      return number ? std::optional(of(*number)) : std::nullopt;
    }
    case Form::port: {
      const auto number = parse_whole<std::int64_t>(text);
      return number && *number >= 1 && *number <= 65535 ? std::optional(of(*number)) : std::nullopt;
    }
    case Form::number: {
      const auto number = parse_finite(text);
      return number ? std::optional(of(*number)) : std::nullopt;
    }
    case Form::duration:
    case Form::bytes: {
      const auto quantity = parse_quantity(text, form == Form::duration ? UnitKind::time : UnitKind::bytes);
      return quantity ? std::optional(of(*quantity)) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// A literal as text in the form that `--bind` takes; none = it is no literal.
std::optional<std::string> literal_text(const ast::Expr& expr) {
  if (const auto* text = std::get_if<ast::StringLit>(&expr.node)) return text->value;
  if (const auto* integer = std::get_if<ast::IntLit>(&expr.node)) return std::to_string(integer->value);
  if (const auto* real = std::get_if<ast::FloatLit>(&expr.node)) return fmt::format("{}", real->value);
  if (const auto* quantity = std::get_if<ast::QuantityLit>(&expr.node)) return fmt::format("{}{}", quantity->value, quantity->unit);
  if (const auto* unary = std::get_if<ast::Unary>(&expr.node); unary != nullptr && unary->op == ast::UnaryOp::neg) {
    auto operand = literal_text(*unary->operand);
    return operand ? std::optional("-" + *operand) : std::nullopt;
  }
  return std::nullopt;
}

/// Text stands for text and numbers for numbers: `path.dir = 3` is a mistake although `--bind dir=3` is a path.
bool is_literal_of(const TypeRow& type, const ast::Expr& expr) {
  const bool is_text = std::holds_alternative<ast::StringLit>(expr.node);
  switch (type.form) {
    case Form::path:
    case Form::word:
    case Form::text:
    case Form::secret: return is_text;
    case Form::integer:
    case Form::number:
    case Form::port:
    case Form::duration:
    case Form::bytes: return !is_text;
  }
  return false;
}

std::string written_example(const TypeRow& type) {
  const bool is_text = type.form == Form::path || type.form == Form::word || type.form == Form::text;
  return is_text ? fmt::format("\"{}\"", type.example) : std::string(type.example);
}

class Binder {
 public:
  Binder(const CheckOptions& options, diag::Sink& sink) : options_(options), sink_(sink) {}

  void bind(const ast::BindDecl& decl) {
    const std::string& name = decl.name.text;
    const std::string type_text = type_name(decl);
    const TypeRow* type = find_type(type_text);
    if (type == nullptr) report_unknown_type(decl, type_text);
    if (type != nullptr) check_default(decl, *type);
    if (!result.declarations.emplace(name, &decl).second) return report_again(decl, type_text);
    result.infos.push_back({name, type_text, decl.help.value_or(""), std::nullopt, decl.name.range});
    if (type == nullptr) return set(name, Poison{}, decl.name.range);
    if (const auto given = options_.bindings.find(name); given != options_.bindings.end())
      bind_text(decl, *type, given->second, "");
    else if (const auto site = options_.site_values.find(name); site != options_.site_values.end())
      bind_text(decl, *type, site->second.text, site->second.place);
    else if (decl.default_value)
      bind_default(decl, *type);
    else if (type->form == Form::secret)
      set(name, Secret{name, std::nullopt}, decl.name.range);
  }

  Placeholders result;

 private:
  void set(const std::string& name, Value::Data data, source::Range range) {
    Value value = of(std::move(data));
    value.range = range;
    result.values[name] = std::move(value);
  }

  void keep(const ast::BindDecl& decl, const TypeRow& type, Value value, const std::string& text) {
    const std::string& name = decl.name.text;
    const bool is_secret = type.form == Form::secret;
    set(name, is_secret ? Value::Data(Secret{name, text}) : std::move(value.data), decl.name.range);
    result.infos.back().value = is_secret ? "(secret)" : text;
  }

  void check_default(const ast::BindDecl& decl, const TypeRow& type) {
    if (!decl.default_value) return;
    if (type.form == Form::path) warn_of_home_paths(*decl.default_value, sink_);
    if (type.form != Form::secret) return;
    const std::string& name = decl.name.text;
    sink_.report({diag::Kind::bad_binding, decl.default_value->range, fmt::format("the secret `<{}>` has a value in the file, which others read", name)})
        .help(fmt::format("leave the default out and give it with `--bind {}=...`", name));
  }

  /// A second declaration: a mistake in one file, and the same placeholder in another.
  void report_again(const ast::BindDecl& decl, const std::string& type_text) {
    const ast::BindDecl& first = *result.declarations.at(decl.name.text);
    const std::string first_type = type_name(first);
    if (first.name.range.file == decl.name.range.file) {
      sink_.report({diag::Kind::duplicate_name, decl.name.range, fmt::format("`<{}>` is declared twice", decl.name.text)})
          .label(first.name.range, "first declared here");
    } else if (first_type != type_text && find_type(first_type) != nullptr && find_type(type_text) != nullptr) {
      sink_.report({diag::Kind::placeholder_conflict, first.type->range, fmt::format("`<{}>` has another type in a file that this one imports", first.name.text)})
          .under(fmt::format("{} here", first_type))
          .label(decl.type->range, fmt::format("{} there", type_text))
          .note("a placeholder has one value for all files of a job")
          .help(fmt::format("write `bind <{}>: {}`, or choose another name", first.name.text, type_text));
    }
  }

  /// `place` in a site profile; empty: from `--bind`.
  void bind_text(const ast::BindDecl& decl, const TypeRow& type, const std::string& text, const std::string& place) {
    const std::string& name = decl.name.text;
    if (auto value = parse_form(type.form, text)) return keep(decl, type, std::move(*value), text);
    const std::string given = place.empty() ? fmt::format("`--bind {}={}`", name, text) : fmt::format("`{}` of {}, which is `{}`,", name, place, text);
    sink_.report({diag::Kind::bad_binding, decl.name.range, fmt::format("{} is not {}", given, type.noun)})
        .under(fmt::format("declared as {} here", type.name))
        .help(place.empty() ? fmt::format("for example `--bind {}={}`", name, type.example)
                            : fmt::format("for example `{} = \"{}\"` there", name, type.example));
    set(name, Poison{}, decl.name.range);
  }

  void bind_default(const ast::BindDecl& decl, const TypeRow& type) {
    const std::string& name = decl.name.text;
    const ast::Expr& expr = *decl.default_value;
    const auto text = literal_text(expr);
    if (std::holds_alternative<ast::ErrorExpr>(expr.node)) return set(name, Poison{}, expr.range);
    if (const auto* quantity = std::get_if<ast::QuantityLit>(&expr.node); quantity != nullptr && !resolve_unit(quantity->value, quantity->unit)) {
      report_unknown_unit(quantity->unit, expr.range, sink_);
      return set(name, Poison{}, expr.range);
    }
    if (text && is_literal_of(type, expr))
      if (auto value = parse_form(type.form, *text)) return keep(decl, type, std::move(*value), *text);
    sink_.report({diag::Kind::bad_binding, expr.range,
                  text ? fmt::format("`<{}>` is {}, but its default is not", name, type.noun) : fmt::format("the default of `<{}>` is not a literal", name)})
        .help(fmt::format("for example `bind <{}>: {} = {};`", name, type.name, written_example(type)));
    set(name, Poison{}, expr.range);
  }

  void report_unknown_type(const ast::BindDecl& decl, const std::string& type_text) {
    const source::Range range = decl.type ? decl.type->range : decl.name.range;
    std::vector<std::string> names;
    for (const TypeRow& row : type_rows) names.emplace_back(row.name);
    auto& report = sink_.report({diag::Kind::unknown_placeholder_type, range, fmt::format("`{}` is not a type of placeholder", type_text)});
    suggest(report, type_text, names);
  }

  const CheckOptions& options_;
  diag::Sink& sink_;
};

void report_unknown_bindings(const Placeholders& placeholders, const std::map<std::string, std::string>& bindings, diag::Sink& sink) {
  std::vector<std::string> names;
  for (const PlaceholderInfo& info : placeholders.infos) names.push_back(info.name);
  std::string unknown;
  for (const auto& [name, text] : bindings) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    // These have no place in the file, so one report names all of them.
    auto near = diag::nearest(name, names);
    unknown += fmt::format("{}`--bind {}=...`{}", unknown.empty() ? "" : ", ", name, near ? fmt::format(" (did you mean `{}`?)", *near) : "");
  }
  if (unknown.empty()) return;
  auto& report = sink.report({diag::Kind::unknown_binding, source::Range{}, fmt::format("the file declares no placeholder for {}", unknown)});
  if (names.empty()) {
    report.help("it declares none; a placeholder is declared by `bind <name>: type \"what it is\";`");
    return;
  }
  std::string list;
  for (const std::string& name : names) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", name);
  report.help("it declares " + list);
}

/// `where writable`: a condition on the machine that runs the job, so there is nothing to check here.
bool is_run_time_condition(const ast::Expr& expr) {
  const auto* name = std::get_if<ast::NameRef>(&expr.node);
  return name != nullptr && name->name == "writable";
}

}  // namespace

std::optional<Value> parse_binding(std::string_view type, const std::string& text) {
  const TypeRow* row = find_type(type);
  return row != nullptr ? parse_form(row->form, text) : std::nullopt;
}

void note_unbound(const ast::BindDecl& decl, diag::Sink& sink) {
  const TypeRow* type = find_type(type_name(decl));
  if (type == nullptr) return;
  const std::string& name = decl.name.text;
  auto& report = sink.report({diag::Kind::unbound_placeholder, decl.name.range, fmt::format("`<{}>` has no value: {}", name, type->noun)});
  if (decl.help) report.note(*decl.help);
  report.help(fmt::format("give it with `--bind {}={}`", name, type->example));
}

Placeholders bind_placeholders(const std::vector<const ast::File*>& files, const CheckOptions& options, diag::Sink& sink) {
  Binder binder(options, sink);
  for (const ast::File* file : files)
    for (const ast::Decl& decl : file->decls)
      if (const auto* bind = std::get_if<ast::BindDecl>(&decl)) binder.bind(*bind);
  report_unknown_bindings(binder.result, options.bindings, sink);
  return std::move(binder.result);
}

void check_conditions(const ast::File& file, const Placeholders& placeholders, Evaluator& evaluator,
                      const std::shared_ptr<Scope>& scope, diag::Sink& sink) {
  for (const ast::Decl& decl : file.decls) {
    const auto* bind = std::get_if<ast::BindDecl>(&decl);
    if (bind == nullptr || !bind->where || is_run_time_condition(*bind->where)) continue;
    const auto found = placeholders.values.find(bind->name.text);
    if (found == placeholders.values.end() || found->second.is_poison()) continue;
    const Value holds = evaluator.evaluate_condition(*bind->where, scope);
    if (holds.is_poison() || holds.is_unbound()) continue;
    const std::string& name = bind->name.text;
    const bool* truth = holds.as<bool>();
    if (truth == nullptr) {
      sink.report({diag::Kind::wrong_type, bind->where->range, fmt::format("the condition on `<{}>` must be true or false, found {}", name, describe(holds))})
          .help("compare it with something, for example `where <n> >= 1`");
      continue;
    }
    if (*truth) continue;
    auto& report = sink.report({diag::Kind::bad_binding, bind->where->range, fmt::format("the value of `<{}>` does not meet its condition", name)});
    const auto info = std::find_if(placeholders.infos.begin(), placeholders.infos.end(), [&](const PlaceholderInfo& i) { return i.name == name; });
    if (found->second.as<Secret>() == nullptr && info != placeholders.infos.end() && info->value) report.under(fmt::format("`<{}>` is `{}`", name, *info->value));
    report.help(fmt::format("give another value with `--bind {}=...`", name));
  }
}

}  // namespace dtj::check
