#include "compiler/check/builtins/primitives.hpp"

#include <map>

#include <fmt/format.h>

namespace dtj::check {

namespace {

using Table = std::map<std::string_view, Primitive>;

Table make_table() {
  Table table;
  for (const auto& family : {elementwise_primitives(), reduction_primitives(), einsum_primitives(),
                             rearrange_primitives(), shape_primitives(), indexing_primitives(), init_primitives(),
                             window_primitives(), rank_primitives(), policy_primitives()}) {
    for (const auto& primitive : family) table.emplace(primitive.name, primitive);
  }
  return table;
}

const Table& table() {
  static const Table the_table = make_table();
  return the_table;
}

struct Parameter {
  std::string name;
  bool is_optional = false;
};

struct Signature {
  std::vector<Parameter> params;
  bool takes_more = false;
};

Signature read_signature(std::string_view text) {
  Signature signature;
  while (!text.empty()) {
    const auto comma = text.find(", ");
    std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 2);
    if (word == "**")
      signature.takes_more = true;
    else if (word.back() == '?')
      signature.params.push_back({std::string(word.substr(0, word.size() - 1)), true});
    else
      signature.params.push_back({std::string(word), false});
  }
  return signature;
}

}  // namespace

const Primitive* find_primitive(std::string_view name) {
  auto place = table().find(name);
  return place == table().end() ? nullptr : &place->second;
}

std::vector<std::string_view> primitive_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, primitive] : table()) names.push_back(name);
  return names;
}

Value call_primitive(Interpreter& in, const Primitive& primitive, std::vector<Argument> args, source::Range range) {
  const Signature signature = read_signature(primitive.signature);
  PrimitiveCall call{in, primitive.name, range, {}};
  std::vector<std::optional<Value>> values(signature.params.size());
  std::size_t next = 0;
  const std::string takes = fmt::format("`{}({})`", primitive.name, primitive.signature);
  for (auto& arg : args) {
    if (arg.value.is_poison()) return {};
    arg.value = in.use_slot(arg.value, arg.value.range);
    std::size_t place = next;
    if (arg.name) {
      for (place = 0; place < values.size() && signature.params[place].name != arg.name->text;) ++place;
      if (place == values.size() && signature.takes_more) {
        call.extra.emplace_back(*arg.name, std::move(arg.value));
        continue;
      }
    } else {
      ++next;
    }
    if (place >= values.size()) {
      auto& diagnostic = arg.name ? in.report(diag::Kind::wrong_argument, arg.name->range,
                                              fmt::format("`{}` has no parameter `{}`", primitive.name, arg.name->text))
                                  : in.report(diag::Kind::wrong_argument, arg.value.range,
                                              fmt::format("`{}` takes at most {} arguments, found {}", primitive.name,
                                                          values.size(), args.size()));
      diagnostic.note(fmt::format("it is {}", takes));
      if (arg.name) {
        std::vector<std::string> names;
        for (const auto& param : signature.params) names.push_back(param.name);
        in.suggest(diagnostic, arg.name->text, names);
      } else if ((primitive.name == "max" || primitive.name == "min") && args.size() == 2) {
        diagnostic.help(fmt::format("`{}imum(a, b)` compares two values", primitive.name));
      }
      return {};
    }
    if (values[place]) {
      in.report(diag::Kind::wrong_argument, arg.name ? arg.name->range : arg.value.range,
                fmt::format("the argument `{}` of `{}` is given twice", signature.params[place].name, primitive.name))
          .label(values[place]->range, "first given here");
      return {};
    }
    values[place] = std::move(arg.value);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i] && !signature.params[i].is_optional) {
      in.report(diag::Kind::wrong_argument, range,
                fmt::format("`{}` misses its argument `{}`", primitive.name, signature.params[i].name))
          .note(fmt::format("it is {}", takes));
      return {};
    }
    call.args.push_back(values[i] ? std::move(*values[i]) : Value{None{}, range});
  }
  return primitive.run(call);
}

Value PrimitiveCall::fail(diag::Kind kind, source::Range at, std::string message, const std::string& help) const {
  auto& diagnostic = in.report(kind, at, std::move(message));
  if (!help.empty()) diagnostic.help(help);
  return {};
}

const TensorValue* PrimitiveCall::tensor(std::size_t place) const {
  const auto* found = as_tensor(args[place]);
  if (!found && !args[place].is_unbound()) {
    fail(diag::Kind::wrong_type, args[place].range,
         fmt::format("`{}` takes a tensor, found {}", name, describe(args[place])));
  }
  return found;
}

std::optional<std::string> PrimitiveCall::text(std::size_t place) const {
  if (const auto* found = args[place].as<std::string>()) return *found;
  fail(diag::Kind::wrong_type, args[place].range,
       fmt::format("`{}` takes a pattern as a string, found {}", name, describe(args[place])));
  return std::nullopt;
}

std::optional<bool> PrimitiveCall::flag(std::size_t place, bool fallback) const {
  if (!has(place)) return fallback;
  if (const auto* found = args[place].as<bool>()) return *found;
  fail(diag::Kind::wrong_type, args[place].range,
       fmt::format("`{}` takes a bool here, found {}", name, describe(args[place])));
  return std::nullopt;
}

std::optional<Dim> PrimitiveCall::integer(std::size_t place) const {
  if (auto found = as_dim(args[place])) return found;
  if (!args[place].is_unbound()) {
    fail(diag::Kind::wrong_type, args[place].range,
         fmt::format("`{}` takes an integer here, found {}", name, describe(args[place])));
  }
  return std::nullopt;
}

std::optional<std::int64_t> PrimitiveCall::axis(const Value& value, std::size_t rank) const {
  const auto* number = value.as<std::int64_t>();
  if (!number) {
    if (!value.is_unbound() && !value.is_poison()) {
      fail(diag::Kind::wrong_type, value.range, fmt::format("an axis is an integer, found {}", describe(value)));
    }
    return std::nullopt;
  }
  const auto size = static_cast<std::int64_t>(rank);
  if (*number >= -size && *number < size) return *number < 0 ? *number + size : *number;
  fail(diag::Kind::bad_axis, value.range,
       fmt::format("`{}` has no axis {}: the tensor has {} dim{}", name, *number, rank, rank == 1 ? "" : "s"));
  return std::nullopt;
}

source::Range range_inside(const Interpreter& in, const Value& literal, std::size_t offset, std::size_t length) {
  const auto* text = literal.as<std::string>();
  if (!text || in.text_of(literal.range) != "\"" + *text + "\"") return literal.range;
  const auto begin = literal.range.begin + 1 + static_cast<std::uint32_t>(offset);
  return source::Range::of(literal.range.file, begin, begin + static_cast<std::uint32_t>(length));
}

}  // namespace dtj::check
