#include "compiler/ir/text.hpp"
#include "tests/support/ir_text.hpp"

using namespace dtj;
using ir::Op;
using ir::Type;

namespace {

Type f32(Shape shape) {
  return {DType::f32, std::move(shape)};
}
Type i32(Shape shape) {
  return {DType::i32, std::move(shape)};
}
Type bools(Shape shape) {
  return {DType::boolean, std::move(shape)};
}

ir::Attrs ints(std::vector<std::int64_t> values) {
  return {std::move(values), 0, {}};
}

/// The inferred types as text, or the message.
std::string inferred(Op op, const std::vector<Type>& operands, const ir::Attrs& attrs = {},
                     const std::vector<Type>& wanted = {}) {
  const auto result = ir::infer(op, operands, attrs, wanted);
  if (!result) return result.error().message;
  std::string text;
  for (const Type& type : *result) text += (text.empty() ? "" : ", ") + ir::to_string(type);
  return text;
}

}  // namespace

TEST_CASE("infer: element-wise ops want equal types of the right kind", "[unit][ir]") {
  CHECK(inferred(Op::add, {f32({2, 3}), f32({2, 3})}) == "f32[2, 3]");
  CHECK(inferred(Op::add, {f32({2}), f32({3})}) == "add: operands f32[2] and f32[3] differ");
  CHECK(inferred(Op::add, {f32({2}), i32({2})}) == "add: operands f32[2] and i32[2] differ");
  CHECK(inferred(Op::add, {bools({2}), bools({2})}) == "add: bool[2] is not a number");
  CHECK(inferred(Op::exp, {i32({2})}) == "exp: i32[2] is not a float");
  CHECK(inferred(Op::logical_not, {f32({2})}) == "logical_not: f32[2] is not bool");
  CHECK(inferred(Op::neg, {}) == "neg: has 0 operands, takes 1");
}

TEST_CASE("infer: comparisons give bool and select takes it", "[unit][ir]") {
  CHECK(inferred(Op::lt, {f32({2}), f32({2})}) == "bool[2]");
  CHECK(inferred(Op::lt, {bools({2}), bools({2})}) == "lt: bool[2] is not a number");
  CHECK(inferred(Op::eq, {bools({2}), bools({2})}) == "bool[2]");
  CHECK(inferred(Op::select, {bools({2}), f32({2}), f32({2})}) == "f32[2]");
  CHECK(inferred(Op::select, {f32({2}), f32({2}), f32({2})}) == "select: f32[2] is not bool");
  CHECK(inferred(Op::select, {bools({1}), f32({2}), f32({2})}) == "select: condition bool[1] does not fit f32[2]");
}

TEST_CASE("infer: leaves and cast take their declared type", "[unit][ir]") {
  CHECK(inferred(Op::constant, {}, {}, {f32({2})}) == "f32[2]");
  CHECK(inferred(Op::constant, {}) == "constant: needs one declared result type");
  CHECK(inferred(Op::constant, {}, {}, {f32({-1})}) == "constant: result f32[-1] has a negative extent");
  CHECK(inferred(Op::iota, {}, ints({1}), {i32({2, 3})}) == "i32[2, 3]");
  CHECK(inferred(Op::iota, {}, ints({2}), {i32({2, 3})}) == "iota: needs one axis of the result i32[2, 3]");
  CHECK(inferred(Op::iota, {}, ints({0}), {bools({2})}) == "iota: result bool[2] is not integer or float");
  CHECK(inferred(Op::cast, {f32({2})}, {}, {i32({2})}) == "i32[2]");
  CHECK(inferred(Op::cast, {f32({2})}, {}, {i32({3})}) == "cast: cannot turn f32[2] into i32[3]: the shapes differ");
}

TEST_CASE("infer: reductions keep their axes with extent 1", "[unit][ir]") {
  CHECK(inferred(Op::reduce_sum, {f32({2, 3, 4})}, ints({0, 2})) == "f32[1, 3, 1]");
  CHECK(inferred(Op::reduce_max, {f32({0, 3})}, ints({0})) == "f32[1, 3]");
  CHECK(inferred(Op::reduce_sum, {f32({2, 3})}, ints({1, 0})) ==
        "reduce_sum: axes [1, 0] are not ascending axes of f32[2, 3]");
  CHECK(inferred(Op::reduce_sum, {f32({2, 3})}, ints({2})) ==
        "reduce_sum: axes [2] are not ascending axes of f32[2, 3]");
}

TEST_CASE("infer: movement", "[unit][ir]") {
  CHECK(inferred(Op::broadcast, {f32({1, 3})}, {}, {f32({0, 3})}) == "f32[0, 3]");
  CHECK(inferred(Op::broadcast, {f32({2, 3})}, {}, {f32({4, 3})}) == "broadcast: f32[2, 3] does not grow to f32[4, 3]");
  CHECK(inferred(Op::reshape, {f32({2, 3})}, {}, {f32({6})}) == "f32[6]");
  CHECK(inferred(Op::reshape, {f32({2, 3})}, {}, {f32({5})}) ==
        "reshape: f32[2, 3] and f32[5] do not hold the same elements");
  CHECK(inferred(Op::transpose, {f32({2, 3, 4})}, ints({2, 0, 1})) == "f32[4, 2, 3]");
  CHECK(inferred(Op::transpose, {f32({2, 3})}, ints({0, 0})) ==
        "transpose: [0, 0] is not a permutation of the dims of f32[2, 3]");
  CHECK(inferred(Op::slice, {f32({5})}, ints({1, 4})) == "f32[3]");
  CHECK(inferred(Op::slice, {f32({5})}, ints({1, 6})) == "slice: [1, 6) is not inside dim 0 of f32[5]");
  CHECK(inferred(Op::pad, {f32({5})}, ints({1, 2})) == "f32[8]");
  CHECK(inferred(Op::pad, {f32({5})}, ints({-1, 2})) == "pad: the widths of dim 0 are negative");
  CHECK(inferred(Op::concat, {f32({2, 3}), f32({2, 1})}, ints({1})) == "f32[2, 4]");
  CHECK(inferred(Op::concat, {f32({2, 3}), f32({1, 3})}, ints({1})) ==
        "concat: operands f32[2, 3] and f32[1, 3] differ outside axis 1");
  CHECK(inferred(Op::concat, {}, ints({0})) == "concat: needs an operand");
}

TEST_CASE("infer: matmul with every transposition, batch dims and result dtypes", "[unit][ir]") {
  const std::vector<Type> any{f32({})};
  CHECK(inferred(Op::matmul, {f32({2, 3}), f32({3, 4})}, ints({0, 0}), any) == "f32[2, 4]");
  CHECK(inferred(Op::matmul, {f32({3, 2}), f32({3, 4})}, ints({1, 0}), any) == "f32[2, 4]");
  CHECK(inferred(Op::matmul, {f32({2, 3}), f32({4, 3})}, ints({0, 1}), any) == "f32[2, 4]");
  CHECK(inferred(Op::matmul, {f32({3, 2}), f32({4, 3})}, ints({1, 1}), any) == "f32[2, 4]");
  CHECK(inferred(Op::matmul, {f32({7, 5, 2, 3}), f32({7, 5, 3, 4})}, ints({0, 0}), any) == "f32[7, 5, 2, 4]");
  CHECK(inferred(Op::matmul, {{DType::bf16, {2, 3}}, {DType::bf16, {3, 4}}}, ints({0, 0}), any) == "f32[2, 4]");
  CHECK(inferred(Op::matmul, {f32({2, 3}), f32({4, 3})}, ints({0, 0}), any) ==
        "matmul: the inner dims of f32[2, 3] and f32[4, 3] differ");
  CHECK(inferred(Op::matmul, {f32({5, 2, 3}), f32({6, 3, 4})}, ints({0, 0}), any) ==
        "matmul: the batch dims of f32[5, 2, 3] and f32[6, 3, 4] differ");
  CHECK(inferred(Op::matmul, {f32({3}), f32({3, 4})}, ints({0, 0}), any) ==
        "matmul: f32[3] and f32[3, 4] are not matrices of one rank");
  CHECK(inferred(Op::matmul, {f32({2, 3}), f32({3, 4})}, ints({0, 2}), any) ==
        "matmul: needs trans_a and trans_b, 0 or 1");
  CHECK(inferred(Op::matmul, {f32({2, 3}), f32({3, 4})}, ints({0, 0}), {{DType::f64, {}}}) ==
        "matmul: f32[2, 3] and f32[3, 4] cannot give f64[]");
}

TEST_CASE("infer: indexing and collectives", "[unit][ir]") {
  CHECK(inferred(Op::gather_rows, {f32({9, 4}), i32({3})}) == "f32[3, 4]");
  CHECK(inferred(Op::gather_rows, {f32({9, 4}), f32({3})}) == "gather_rows: index f32[3] is not i32[N]");
  CHECK(inferred(Op::scatter_add_rows, {i32({3}), f32({3, 4})}, ints({9})) == "f32[9, 4]");
  CHECK(inferred(Op::scatter_add_rows, {i32({3}), f32({2, 4})}, ints({9})) ==
        "scatter_add_rows: rows f32[2, 4] do not fit index i32[3]");
  CHECK(inferred(Op::argmax_last, {f32({3, 4})}) == "i32[3]");
  CHECK(inferred(Op::argmax_last, {f32({3, 0})}) == "argmax_last: the rows of f32[3, 0] are empty");
  CHECK(inferred(Op::all_reduce, {f32({3}), f32({})}, {{0}, 0, "dp"}) == "f32[3], f32[]");
  CHECK(inferred(Op::all_reduce, {f32({3})}, ints({0})) == "all_reduce: needs the name of a mesh axis");
  CHECK(inferred(Op::fused, {}) == "fused: needs declared result types");
}
