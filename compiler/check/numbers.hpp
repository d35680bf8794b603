#pragma once

#include "compiler/check/interpreter.hpp"

// Arithmetic on compile-time numbers. Every function reports what has no result and gives Poison then.

namespace dtj::check {

/// Both are integers, perhaps symbolic. `/` is exact; with `must_be_proved`, for symbols too.
Value integer_binary(Interpreter& in, ast::BinaryOp op, const Value& lhs, const Value& rhs, source::Range range,
                     bool must_be_proved);
/// At least one has a fraction.
Value real_binary(Interpreter& in, ast::BinaryOp op, const Value& lhs, const Value& rhs, source::Range range);
/// At least one is a quantity.
Value quantity_binary(Interpreter& in, ast::BinaryOp op, const Value& lhs, const Value& rhs, source::Range range);

}  // namespace dtj::check
