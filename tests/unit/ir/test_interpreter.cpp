#include <cmath>

#include "tests/support/interpreter.hpp"
#include "tests/support/ir_text.hpp"

// The judge of every kernel is itself held against values worked out by hand.

using namespace dtj;
using test::Tensor;
using Values = std::vector<double>;

namespace {

constexpr test::InterpretOptions typed{test::Numerics::as_typed, 1};

/// The one output of `statement`, which defines %9 from %0, %1 of the given types.
Values evaluate(const std::string& statement, const std::vector<Tensor>& inputs, test::InterpretOptions options = {}) {
  ir::Graph types;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) types.add_input(inputs[i].type, ir::Port::plain, i, "");
  std::string text = ir::print(types);
  text = text.substr(text.find('\n') + 1);
  text.resize(text.size() - 2);
  return test::interpret(test::graph_of(text + statement + "\noutput(plain, 0, \"y\") = %9\n"), inputs, options)[0]
      .values;
}

Tensor f32(Shape shape, Values values) {
  return {{DType::f32, std::move(shape)}, std::move(values)};
}
Tensor i32(Shape shape, Values values) {
  return {{DType::i32, std::move(shape)}, std::move(values)};
}

}  // namespace

TEST_CASE("interpreter: element-wise ops", "[unit][ir]") {
  const Tensor x = f32({3}, {-2, 0, 4}), y = f32({3}, {1, -3, 4});
  CHECK(evaluate("%9 = sub(%0, %1) : f32[3]", {x, y}) == Values{-3, 3, 0});
  CHECK(evaluate("%9 = maximum(%0, %1) : f32[3]", {x, y}) == Values{1, 0, 4});
  CHECK(evaluate("%9 = minimum(%0, %1) : f32[3]", {x, y}) == Values{-2, -3, 4});
  CHECK(evaluate("%9 = sign(%0) : f32[3]", {x}) == Values{-1, 0, 1});
  CHECK(evaluate("%9 = ge(%0, %1) : bool[3]", {x, y}) == Values{0, 1, 1});
  CHECK(evaluate("%9 = cast(%0) : bool[3]", {x}) == Values{1, 0, 1});
  CHECK(evaluate("%9 = div(%0, %1) : i32[2]", {i32({2}, {7, -7}), i32({2}, {2, 2})}) == Values{3, -3});
}

TEST_CASE("interpreter: a NaN is the maximum of everything", "[unit][ir]") {
  const Tensor x = f32({2}, {NAN, 1}), y = f32({2}, {1, NAN});
  for (const double value : evaluate("%9 = maximum(%0, %1) : f32[2]", {x, y})) CHECK(std::isnan(value));
  CHECK(std::isnan(evaluate("%9 = reduce_max(%0) {ints = [0]} : f32[1]", {x})[0]));
}

TEST_CASE("interpreter: rounding follows the numerics", "[unit][ir]") {
  const Tensor third{{DType::f64, {1}}, {1.0 / 3}};
  CHECK(evaluate("%9 = cast(%0) : bf16[1]", {third})[0] == 1.0 / 3);
  CHECK(evaluate("%9 = cast(%0) : bf16[1]", {third}, typed)[0] == 0.333984375);
  CHECK(evaluate("%9 = cast(%0) : i32[1]", {f32({1}, {-2.7})})[0] == -2);
}

TEST_CASE("interpreter: reductions", "[unit][ir]") {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(evaluate("%9 = reduce_sum(%0) {ints = [0]} : f32[1, 3]", {x}) == Values{5, 7, 9});
  CHECK(evaluate("%9 = reduce_sum(%0) {ints = [0, 1]} : f32[1, 1]", {x}) == Values{21});
  CHECK(evaluate("%9 = reduce_max(%0) {ints = [1]} : f32[2, 1]", {x}) == Values{3, 6});
  CHECK(evaluate("%9 = reduce_sum(%0) {ints = [0]} : f32[1, 2]", {f32({0, 2}, {})}) == Values{0, 0});
  CHECK(evaluate("%9 = reduce_max(%0) {ints = [0]} : f32[1]", {f32({0}, {})}) == Values{-INFINITY});
}

TEST_CASE("interpreter: movement", "[unit][ir]") {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(evaluate("%9 = transpose(%0) {ints = [1, 0]} : f32[3, 2]", {x}) == Values{1, 4, 2, 5, 3, 6});
  CHECK(evaluate("%9 = slice(%0) {ints = [0, 2, 1, 3]} : f32[2, 2]", {x}) == Values{2, 3, 5, 6});
  CHECK(evaluate("%9 = pad(%0) {ints = [1, 0, 0, 1]} : f32[3, 4]", {x}) == Values{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0});
  CHECK(evaluate("%9 = broadcast(%0) : f32[2, 2]", {f32({2, 1}, {7, 8})}) == Values{7, 7, 8, 8});
  CHECK(evaluate("%9 = concat(%0, %1) {ints = [1]} : f32[2, 4]", {x, f32({2, 1}, {8, 9})}) ==
        Values{1, 2, 3, 8, 4, 5, 6, 9});
  CHECK(evaluate("%9 = iota() {ints = [1]} : i32[2, 3]", {}) == Values{0, 1, 2, 0, 1, 2});
}

TEST_CASE("interpreter: transpose of three dims", "[unit][ir]") {
  const Tensor x = f32({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(evaluate("%9 = transpose(%0) {ints = [2, 0, 1]} : f32[3, 1, 2]", {x}) == Values{1, 4, 2, 5, 3, 6});
}

TEST_CASE("interpreter: matmul with every transposition", "[unit][ir]") {
  const Values product{4, 5, 10, 11};
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), a_t = f32({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor b = f32({3, 2}, {1, 0, 0, 1, 1, 1}), b_t = f32({2, 3}, {1, 0, 1, 0, 1, 1});
  CHECK(evaluate("%9 = matmul(%0, %1) {ints = [0, 0]} : f32[2, 2]", {a, b}) == product);
  CHECK(evaluate("%9 = matmul(%0, %1) {ints = [1, 0]} : f32[2, 2]", {a_t, b}) == product);
  CHECK(evaluate("%9 = matmul(%0, %1) {ints = [0, 1]} : f32[2, 2]", {a, b_t}) == product);
  CHECK(evaluate("%9 = matmul(%0, %1) {ints = [1, 1]} : f32[2, 2]", {a_t, b_t}) == product);
}

TEST_CASE("interpreter: indexing", "[unit][ir]") {
  const Tensor table = f32({3, 2}, {1, 2, 3, 4, 5, 6}), index = i32({3}, {2, 0, 2});
  CHECK(evaluate("%9 = gather_rows(%0, %1) : f32[3, 2]", {table, index}) == Values{5, 6, 1, 2, 5, 6});
  CHECK(evaluate("%9 = scatter_add_rows(%0, %1) {ints = [4]} : f32[4, 2]", {index, table}) ==
        Values{3, 4, 0, 0, 6, 8, 0, 0});
  CHECK(evaluate("%9 = argmax_last(%0) : i32[2]", {f32({2, 3}, {1, 5, 5, 2, 1, 0})}) == Values{1, 0});
}

TEST_CASE("interpreter: all_reduce multiplies by the ranks and regions run", "[unit][ir]") {
  const Tensor x = f32({2}, {1, 2});
  CHECK(evaluate("%9 = all_reduce(%0) {ints = [0], text = \"dp\"} : f32[2]", {x}, {test::Numerics::f64, 4}) ==
        Values{4, 8});
  CHECK(evaluate("%9 = fused(%0) {text = \"elementwise\"} : f32[2] graph \"r\" { %0 = input(plain, 0, \"\") : f32[2]\n"
                 "%1 = mul(%0, %0) : f32[2]\noutput(plain, 0, \"\") = %1 }",
                 {x}) == Values{1, 4});
}
