#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/interpreter.hpp"

// The functions that the compiler provides. One row each, one file a family; everything else is written in the language.

namespace dtj::check {

/// A call of a primitive whose arguments are in their places. None of them is Poison.
struct PrimitiveCall {
  Interpreter& in;
  std::string_view name;
  source::Range range;
  std::vector<Value> args;                              ///< None for an optional argument that is not given
  std::vector<std::pair<ast::Name, Value>> extra = {};  ///< of a signature that ends in `**`

  bool has(std::size_t place) const { return !args[place].as<None>(); }
  /// Reports the mistake at `at`; the result is Poison.
  Value fail(diag::Kind kind, source::Range at, std::string message, const std::string& help = "") const;
  /// The argument must be a tensor. Null: reported.
  const TensorValue* tensor(std::size_t place) const;
  std::optional<std::string> text(std::size_t place) const;
  std::optional<bool> flag(std::size_t place, bool fallback) const;
  std::optional<Dim> integer(std::size_t place) const;
  /// An axis of a tensor of `rank` dims, counted from the end when negative.
  std::optional<std::int64_t> axis(const Value& value, std::size_t rank) const;
};

/// `signature`: names in order; `axis?` may be left out; a last `**` takes any further named arguments.
struct Primitive {
  std::string_view name;
  std::string_view signature;
  Value (*run)(PrimitiveCall& call);
};

const Primitive* find_primitive(std::string_view name);
std::vector<std::string_view> primitive_names();
Value call_primitive(Interpreter& in, const Primitive& primitive, std::vector<Argument> args, source::Range range);

/// x @ w
Value matmul(Interpreter& in, const Value& lhs, const Value& rhs, source::Range range);

std::vector<Primitive> elementwise_primitives();
std::vector<Primitive> reduction_primitives();
std::vector<Primitive> einsum_primitives();
std::vector<Primitive> rearrange_primitives();
std::vector<Primitive> shape_primitives();
std::vector<Primitive> indexing_primitives();
std::vector<Primitive> init_primitives();
std::vector<Primitive> window_primitives();
std::vector<Primitive> rank_primitives();
std::vector<Primitive> policy_primitives();

/// The bytes [offset, offset + length) of a string literal in the source, or the whole of it where they cannot be told.
source::Range range_inside(const Interpreter& in, const Value& literal, std::size_t offset, std::size_t length);

}  // namespace dtj::check
