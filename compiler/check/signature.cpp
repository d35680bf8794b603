#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// Tensor types in signatures: a value's dims are matched with the written ones, and names that are not known yet take
// the dims they meet.

namespace dtj::check {

namespace {

/// The first of the trailing dims whose product is `wanted`, if they are more than one.
std::optional<std::size_t> flattens_to(const Dims& dims, const Dim& wanted) {
  Dim trailing = 1;
  std::optional<std::size_t> from;  // the longest tail: dims of extent 1 before it belong to it too
  for (std::size_t i = dims.size(); i-- > 1;) {
    trailing = trailing * dims[i];
    if (i + 1 < dims.size() && trailing == wanted) from = i;
  }
  return from;
}

}  // namespace

bool Interpreter::report_shape(const Value& value, const ast::TypeExpr& type, const Fit& fit, const std::string& what,
                               const std::string& help) {
  const TensorValue& tensor = *as_tensor(value);
  auto& diagnostic = report(diag::Kind::shape_mismatch, value.range,
                            fmt::format("{} is {}, but {}", fit.subject, to_string(tensor.dtype, tensor.dims), what));
  diagnostic.under(to_string(tensor.dtype, tensor.dims))
      .label(fit.declaration, fmt::format("declared as `{}`", text_of(type.range)));
  if (!help.empty()) diagnostic.help(help);
  return false;
}

bool Interpreter::fit_dtype(Value& value, DType want, const ast::NamedType& named, const Fit& fit) {
  const TensorValue tensor = *as_tensor(value);
  const source::Range range = value.range;
  const bool is_par = named.base.parts[0].text == "par";
  if (tensor.dtype == want) {
    std::get<TensorValue>(value.data).adopts = is_par && tensor.adopts;
    return true;
  }
  if (tensor.adopts && is_float(tensor.dtype) && is_float(want)) {
    value = emit_cast(value, want, range);
    value.range = range;
    return !value.is_poison();
  }
  const std::string role = named.base.parts[0].text;
  const std::string wanted = role == to_string(want) ? role : fmt::format("{} ({})", role, to_string(want));
  report(diag::Kind::dtype_mismatch, range,
         fmt::format("{} must be {}, found {}", fit.subject, wanted, to_string(tensor.dtype, tensor.dims)))
      .label(fit.declaration, "declared here")
      .help(fmt::format("`{} as {}` converts it", text_of(range).size() < 30 ? text_of(range) : "...", role));
  return false;
}

bool Interpreter::fit_dim(const ast::DimExpr& pattern, const Dim& actual, std::size_t position, const Value& value,
                          const ast::TypeExpr& type, Fit& fit) {
  if (!pattern.axes.empty()) {
    report(diag::Kind::not_in_edition, pattern.range, "dims split over a mesh axis are not part of this edition");
    return false;
  }
  const auto* name = std::get_if<ast::NameRef>(&pattern.size->node);
  std::optional<Value> known;
  if (name) {
    known = find(name->name, fit.scope);
    if (known && !is_number(*known) && !known->is_poison() && fit.binds) known.reset();
    if (!known && fit.binds) {
      fit.scope->names[name->name] = make_int(actual, pattern.range);
      fit.bound_by[name->name] = fit.subject;
      return true;
    }
  } else if (fit.binds) {
    fit.pending.push_back({&pattern, actual, position, value, fit.subject, fit.declaration, &type});
    return true;
  }
  if (!known) known = evaluate(*pattern.size, fit.scope);
  if (known->is_poison()) return false;
  if (known->is_unbound()) return true;
  auto wanted = as_dim(*known);
  if (!wanted) {
    report(diag::Kind::wrong_type, pattern.range,
           fmt::format("the size of a dim is an integer, found {}", describe(*known)));
    return false;
  }
  if (are_equal(*wanted, actual) != Truth::no) return true;
  const std::string written = text_of(pattern.range);
  std::string what = fmt::format("dim {} must be {}", position, wanted->to_string());
  if (written != wanted->to_string())
    what = fmt::format("dim {} must be `{}` = {}", position, written, wanted->to_string());
  if (name && fit.bound_by.count(name->name) != 0) what += fmt::format(", as in {}", fit.bound_by[name->name]);
  std::string help;
  const Dims& dims = as_tensor(value)->dims;
  if (auto from = position + 1 == dims.size() ? flattens_to(dims, *wanted) : std::nullopt) {
    help = fmt::format("{} is the product of the trailing dims; insert `|> flatten(from = {})`", wanted->to_string(),
                       *from);
  }
  return report_shape(value, type, fit, what, help);
}

bool Interpreter::fit_pending(Fit& fit) {
  bool good = true;
  const bool binds = fit.binds;
  fit.binds = false;
  auto pending = std::move(fit.pending);
  fit.pending.clear();
  for (auto& entry : pending) {
    fit.subject = entry.subject;
    fit.declaration = entry.declaration;
    good = fit_dim(*entry.pattern, entry.actual, entry.position, entry.value, *entry.type, fit) && good;
  }
  fit.binds = binds;
  return good;
}

bool Interpreter::fit_tensor(Value& value, const ast::TypeExpr& type, const ast::NamedType& named, Fit& fit) {
  auto dtype = dtype_of(named);
  if (!dtype) {
    auto& diagnostic = report(diag::Kind::unknown_name, named.base.range,
                              fmt::format("`{}` is neither a role nor a dtype", named.base.to_string()));
    suggest(diagnostic, named.base.to_string(),
            {"act", "par", "acc", "grad", "opt", "stat", "f32", "f64", "bf16", "f16", "i32", "i64", "bool"});
    return false;
  }
  if (!named.unreduced.empty()) {
    report(diag::Kind::not_in_edition, type.range,
           "tensors that are unreduced over a mesh axis are not part of this edition");
    return false;
  }
  value = use_slot(value, value.range);
  if (is_number(value) && named.dims->empty() && is_recording()) {
    value = emit_constant(as_number(value).value_or(0), *dtype, value.range);
    return !value.is_poison();
  }
  if (!as_tensor(value)) {
    report(diag::Kind::wrong_type, value.range,
           fmt::format("{} must be a tensor `{}`, found {}", fit.subject, text_of(type.range), describe(value)))
        .label(fit.declaration, "declared here");
    return false;
  }
  if (!fit_dtype(value, *dtype, named, fit)) return false;

  const auto& patterns = *named.dims;
  const Dims actual = as_tensor(value)->dims;
  const auto is_pack = [](const ast::DimExpr& pattern) { return pattern.pack.has_value(); };
  const auto pack = std::find_if(patterns.begin(), patterns.end(), is_pack);
  if (std::count_if(patterns.begin(), patterns.end(), is_pack) > 1) {
    report(diag::Kind::wrong_type, type.range, "a tensor type has at most one pack `..`");
    return false;
  }
  const std::size_t num_named = patterns.size() - (pack == patterns.end() ? 0 : 1);
  if (actual.size() < num_named || (pack == patterns.end() && actual.size() != num_named)) {
    std::string shown = text_of(type.range);
    report_shape(value, type, fit,
                 fmt::format("`{}` has {}{} dim{}", shown, pack == patterns.end() ? "" : "at least ", num_named,
                             num_named == 1 ? "" : "s"));
    return false;
  }
  bool good = true;
  std::size_t position = 0;
  for (const auto& pattern : patterns) {
    if (!pattern.pack) {
      good = fit_dim(pattern, actual[position], position, value, type, fit) && good;
      ++position;
      continue;
    }
    const std::size_t length = actual.size() - num_named;
    const std::string key = ".." + pattern.pack->text;
    auto known = find(key, fit.scope);
    if (!known && !fit.binds) {
      report(diag::Kind::unknown_name, pattern.range, fmt::format("the pack `{}` is not known", key));
      return false;
    }
    auto list = std::make_shared<List>();
    for (std::size_t i = 0; i < length; ++i) list->elements.push_back(make_int(actual[position + i], pattern.range));
    if (!known) {
      fit.scope->names[key] = {list, pattern.range};
      fit.bound_by[key] = fit.subject;
    } else {
      const auto& wanted = (*known->as<std::shared_ptr<List>>())->elements;
      Dims dims;
      for (const auto& element : wanted) dims.push_back(*as_dim(element));
      bool same = dims.size() == length;
      for (std::size_t i = 0; same && i < length; ++i) same = are_equal(dims[i], actual[position + i]) != Truth::no;
      if (!same) {
        std::string what = fmt::format("`{}` is {}", key, to_string(dims));
        if (fit.bound_by.count(key) != 0) what += fmt::format(", as in {}", fit.bound_by[key]);
        good = report_shape(value, type, fit, what) && good;
      }
    }
    position += length;
  }
  return good;
}

std::optional<Dims> Interpreter::dims_of(const std::vector<ast::DimExpr>& patterns, const ScopePtr& scope) {
  Dims dims;
  for (const auto& pattern : patterns) {
    if (!pattern.axes.empty()) {
      report(diag::Kind::not_in_edition, pattern.range, "dims split over a mesh axis are not part of this edition");
      return std::nullopt;
    }
    if (pattern.pack) {
      auto pack = find(".." + pattern.pack->text, scope);
      const auto* list = pack ? pack->as<std::shared_ptr<List>>() : nullptr;
      if (!list) {
        report(diag::Kind::unknown_name, pattern.range,
               fmt::format("the pack `..{}` is not known here", pattern.pack->text));
        return std::nullopt;
      }
      for (const auto& element : (*list)->elements) dims.push_back(*as_dim(element));
      continue;
    }
    Value size = evaluate(*pattern.size, scope);
    if (size.is_poison() || size.is_unbound()) return std::nullopt;
    auto dim = as_dim(size);
    if (!dim) {
      report(diag::Kind::wrong_type, pattern.range,
             fmt::format("the size of a dim is an integer, found {}", describe(size)));
      return std::nullopt;
    }
    if (dim->number() && *dim->number() < 0) {
      report(diag::Kind::bad_value, pattern.range, fmt::format("the size of a dim cannot be {}", *dim->number()));
      return std::nullopt;
    }
    dims.push_back(*dim);
  }
  return dims;
}

}  // namespace dtj::check
