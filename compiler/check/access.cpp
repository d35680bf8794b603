#include <cmath>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// Fields, subscripts and casts.

namespace dtj::check {

namespace {

std::vector<std::string> field_names(const Value& base) {
  std::vector<std::string> names;
  if (const auto* record = base.as<std::shared_ptr<Record>>()) {
    for (const auto& [name, value] : (*record)->fields) names.push_back(name);
  } else if (const auto* space = base.as<Namespace>()) {
    for (const auto& [name, range] : space->scope->declared) names.push_back(name);
  } else if (const auto* instance = base.as<std::shared_ptr<ModuleInstance>>()) {
    for (const auto& [name, value] : (*instance)->members->names) names.push_back(name);
    for (const auto& [name, value] : (*instance)->scope->names) names.push_back(name);
    for (const auto& item : (*instance)->decl->items) {
      if (const auto* function = std::get_if<ast::FnDecl>(&item)) names.push_back(function->name.text);
    }
  } else if (const auto* type = base.as<EnumType>()) {
    for (const auto& name : type->decl->values) names.push_back(name.text);
  }
  return names;
}

}  // namespace

Value Interpreter::field(const Value& base, const ast::Name& name) {
  if (base.is_poison() || base.is_unbound()) return base;
  std::optional<Value> found;
  if (const auto* record = base.as<std::shared_ptr<Record>>()) {
    if (const Value* value = (*record)->find(name.text)) found = *value;
  } else if (const auto* space = base.as<Namespace>()) {
    found = find_here(name.text, space->scope);
  } else if (const auto* instance = base.as<std::shared_ptr<ModuleInstance>>()) {
    found = find_here(name.text, (*instance)->members);
    if (!found) found = find_here(name.text, (*instance)->scope);
  } else if (const auto* type = base.as<EnumType>()) {
    for (const auto& value : type->decl->values) {
      if (value.text == name.text) found = Value{EnumValue{type->decl->name.text, value.text}, name.range};
    }
  } else {
    report(diag::Kind::wrong_type, name.range, fmt::format("{} has no field `{}`", describe(base), name.text))
        .under(as_tensor(base) ? "a tensor has no fields" : "");
    return {};
  }
  if (!found) {
    auto& diagnostic =
        report(diag::Kind::unknown_name, name.range, fmt::format("{} has no `{}`", describe(base), name.text));
    const auto names = field_names(base);
    if (auto near = diag::nearest(name.text, names)) {
      diagnostic.help(fmt::format("did you mean `{}`?", *near)).fix(name.range, *near, diag::Applicability::maybe_incorrect);
    } else if (!names.empty()) {
      diagnostic.help(fmt::format("it has {}", fmt::join(names, ", ")));
    }
    return {};
  }
  found = use_slot(*found, name.range);
  return *found;
}

Value Interpreter::subscript(const Value& base, const ast::Subscript& node, const ScopePtr& scope,
                             source::Range range) {
  if (base.is_poison() || base.is_unbound()) return base;
  if (as_tensor(base)) return subscript_tensor(base, node, scope, range);
  if (base.as<std::shared_ptr<List>>() || base.as<std::shared_ptr<Tuple>>())
    return subscript_list(base, node, scope, range);
  report(diag::Kind::wrong_type, base.range, fmt::format("{} cannot be indexed", describe(base)));
  return {};
}

Value Interpreter::subscript_list(const Value& base, const ast::Subscript& node, const ScopePtr& scope,
                                  source::Range range) {
  const bool is_list = base.as<std::shared_ptr<List>>() != nullptr;
  const auto& elements =
      is_list ? (*base.as<std::shared_ptr<List>>())->elements : (*base.as<std::shared_ptr<Tuple>>())->elements;
  const auto size = static_cast<std::int64_t>(elements.size());
  if (node.indices.size() != 1 || node.indices[0].kind == ast::Index::Kind::ellipsis) {
    report(diag::Kind::wrong_type, range, fmt::format("{} takes one index", describe(base)));
    return {};
  }
  auto position = [&](const ast::ExprPtr& expr, std::int64_t fallback,
                      std::int64_t last) -> std::optional<std::int64_t> {
    if (!expr) return fallback;
    Value value = evaluate(*expr, scope);
    if (value.is_poison() || value.is_unbound()) return std::nullopt;
    const auto* index = value.as<std::int64_t>();
    if (!index) {
      report(diag::Kind::wrong_type, value.range, fmt::format("an index is an integer, found {}", describe(value)));
      return std::nullopt;
    }
    const std::int64_t place = *index < 0 ? *index + size : *index;
    if (place >= 0 && place <= last) return place;
    report(diag::Kind::bad_axis, value.range, fmt::format("the index {} is outside of {}", *index, describe(base)));
    return std::nullopt;
  };
  const auto& index = node.indices[0];
  if (index.kind == ast::Index::Kind::single) {
    auto place = position(index.single, 0, size - 1);
    return place ? elements[static_cast<std::size_t>(*place)] : Value{};
  }
  auto begin = position(index.begin, 0, size);
  auto end = position(index.end, size, size);
  if (!begin || !end) return {};
  std::vector<Value> part;
  for (std::int64_t i = *begin; i < *end; ++i) part.push_back(elements[static_cast<std::size_t>(i)]);
  if (is_list) return {std::make_shared<List>(List{std::move(part)}), range};
  return {std::make_shared<Tuple>(Tuple{std::move(part)}), range};
}

Value Interpreter::subscript_tensor(const Value& base, const ast::Subscript& node, const ScopePtr& scope,
                                    source::Range range) {
  const TensorValue tensor = *as_tensor(base);
  // First which index stands for which dim.
  std::size_t num_taken = 0;
  std::size_t num_ellipses = 0;
  std::vector<std::optional<Value>> singles(node.indices.size());
  for (std::size_t i = 0; i < node.indices.size(); ++i) {
    const auto& index = node.indices[i];
    if (index.kind == ast::Index::Kind::ellipsis) {
      ++num_ellipses;
      continue;
    }
    if (index.kind == ast::Index::Kind::single) {
      singles[i] = evaluate(*index.single, scope);
      if (singles[i]->is_poison()) return {};
      if (singles[i]->as<None>()) continue;
    }
    ++num_taken;
  }
  if (num_ellipses > 1 || num_taken > tensor.dims.size()) {
    report(diag::Kind::bad_axis, range,
           num_ellipses > 1 ? std::string("`...` stands twice")
                            : fmt::format("{} indices for {}", num_taken, describe(base)));
    return {};
  }
  Dims sliced;
  Dims result;
  std::vector<std::int64_t> ints;
  bool has_slice = false;
  std::size_t axis = 0;
  auto keep = [&](const Dim& begin, const Dim& end, bool is_dropped) {
    const Dim& whole = tensor.dims[axis++];
    ints.push_back(begin.number().value_or(0));
    ints.push_back(end.number().value_or(0));
    has_slice = has_slice || !begin.is(0) || end != whole;
    sliced.push_back(end - begin);
    if (!is_dropped) result.push_back(end - begin);
  };
  auto keep_whole = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) keep(0, tensor.dims[axis], false);
  };
  /// An index counted from the end if negative; `last` is the largest allowed.
  auto place = [&](const Value& value, std::int64_t beyond) -> std::optional<Dim> {
    if (value.is_poison() || value.is_unbound()) return std::nullopt;
    auto index = as_dim(value);
    if (!index) {
      auto& diagnostic =
          report(diag::Kind::wrong_type, value.range, fmt::format("an index is an integer, found {}", describe(value)));
      if (as_tensor(value)) diagnostic.help("`gather_rows(table, index)` takes rows by a tensor of indices");
      return std::nullopt;
    }
    const Dim& whole = tensor.dims[axis];
    auto number = index->number();
    if (number && whole.number() && (*number < -*whole.number() || *number > *whole.number() + beyond)) {
      report(diag::Kind::bad_axis, value.range,
             fmt::format("the index {} is outside of dim {} of {}", *number, axis, describe(base)))
          .note(fmt::format("that dim has {} entries", whole.to_string()));
      return std::nullopt;
    }
    return number && *number < 0 ? whole + *index : *index;
  };
  for (std::size_t i = 0; i < node.indices.size(); ++i) {
    const auto& index = node.indices[i];
    if (index.kind == ast::Index::Kind::ellipsis) {
      keep_whole(tensor.dims.size() - num_taken);
    } else if (singles[i] && singles[i]->as<None>()) {
      result.push_back(1);
    } else if (singles[i]) {
      auto at = place(*singles[i], -1);
      if (!at) return {};
      keep(*at, *at + 1, true);
    } else {
      auto begin = index.begin ? place(evaluate(*index.begin, scope), 0) : std::optional<Dim>(0);
      auto end = index.end ? place(evaluate(*index.end, scope), 0) : std::optional<Dim>(tensor.dims[axis]);
      if (!begin || !end) return {};
      if (auto length = (*end - *begin).number(); length && *length < 0) {
        report(diag::Kind::bad_axis, index.range,
               fmt::format("the slice ends at {} before it begins at {}", end->to_string(), begin->to_string()));
        return {};
      }
      keep(*begin, *end, false);
    }
  }
  keep_whole(tensor.dims.size() - axis);
  Value value = base;
  if (has_slice) {
    TracedTensor op;
    op.op = TraceOp::slice;
    op.operands = {ref(value)};
    op.ints = ints;
    value = emit(std::move(op), tensor.dtype, sliced, range, tensor.adopts);
  }
  if (value.is_poison() || result == as_tensor(value)->dims) return value;
  TracedTensor op;
  op.op = TraceOp::reshape;
  op.operands = {ref(value)};
  return emit(std::move(op), tensor.dtype, result, range, tensor.adopts);
}

Value Interpreter::cast(const Value& value, const ast::TypeExpr& type, const ScopePtr& scope, source::Range range) {
  if (value.is_poison() || value.is_unbound()) return value;
  if (!as_tensor(value)) return cast_number(value, type, scope, range);
  const auto* named = std::get_if<ast::NamedType>(&type.node);
  auto dtype = named ? dtype_of(*named) : std::nullopt;
  if (!dtype) {
    auto& diagnostic =
        report(diag::Kind::wrong_type, type.range, fmt::format("a tensor cannot become `{}`", text_of(type.range)));
    diagnostic.help("a tensor takes a role or a dtype: act, f32, bf16, i32, bool, ...");
    return {};
  }
  Value result = emit_cast(value, dtype.value_or(DType::f32), range);
  if (result.is_poison() || !named->dims) return result;
  result.range = value.range;
  Fit to_type{scope, "the value", type.range, false};
  return fit(result, type, to_type) && fit_pending(to_type) ? result : Value{};
}

Value Interpreter::cast_number(const Value& value, const ast::TypeExpr& type, const ScopePtr& scope,
                               source::Range range) {
  auto as_written = [&] {
    Value checked = value;
    Fit to_type{scope, "the value", type.range, false};
    return fit(checked, type, to_type) ? checked : Value{};
  };
  const auto* named = std::get_if<ast::NamedType>(&type.node);
  if (named == nullptr) return as_written();
  const std::string name = named->base.parts.size() == 1 ? named->base.parts[0].text : "";
  if (value.as<Dim>() && !named->dims) return name == "int" || name == "dim" ? value : Value{Unbound{}, range};
  const auto number = as_number(value);
  const auto dtype = dtype_of(*named);
  if (!number || (named->dims && (!named->dims->empty() || !dtype))) return as_written();
  if (named->dims) return emit_constant(*number, *dtype, range);
  if (dtype && is_float(*dtype)) return {*number, range};
  if (name != "int" && !(dtype && is_integer(*dtype))) return as_written();
  if (*number == std::floor(*number) && std::abs(*number) < 9e15) return {static_cast<std::int64_t>(*number), range};
  report(diag::Kind::bad_value, value.range, fmt::format("{} is not an integer", show(value)))
      .help("`floor(...)` rounds down to an integer");
  return {};
}

}  // namespace dtj::check
