#include <cmath>

#include "compiler/passes/canonicalize/simplify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/interpreter.hpp"

using namespace dtj;
using ir::Op;
using passes::fold;

TEST_CASE("fold: agrees with the interpreter for every element-wise op", "[unit][passes]") {
  const std::vector<std::vector<double>> numbers = {{1, 0, 1}, {0.5, 2, -3}, {-1.25, 0.5, 7}, {0, 0, 1}, {3, -2, 0.25}};
  int num_checked = 0;
  const auto check = [&](Op op, int count) {
    const bool is_left_alone = op == Op::cast || op == Op::stop_gradient || op == Op::random;
    if (ir::category(op) != ir::OpCategory::elementwise || is_left_alone) return;
    const bool takes_bool = op == Op::logical_not || op == Op::logical_and || op == Op::logical_or;
    const DType dtype = takes_bool ? DType::boolean : DType::f32;
    for (const std::vector<double>& row : numbers) {
      ir::Graph graph;
      ir::Builder b(graph);
      std::vector<test::Tensor> inputs;
      std::vector<ir::ValueId> operands;
      std::vector<double> x;
      for (int i = 0; i < count; ++i) {
        const ir::Type type{op == Op::select && i == 0 ? DType::boolean : dtype, {}};
        x.push_back(test::round_to(type.dtype, row[static_cast<std::size_t>(i)]));
        inputs.push_back({type, {x.back()}});
        operands.push_back(graph.add_input(type, ir::Port::plain, static_cast<std::uint32_t>(i), ""));
      }
      const ir::ValueId y = count == 1   ? b.unary(op, operands[0])
                            : count == 2 ? b.binary(op, operands[0], operands[1])
                                         : b.select(operands[0], operands[1], operands[2]);
      graph.add_output(y, ir::Port::plain, 0, "y");
      const double expected = test::interpret(graph, inputs, {test::Numerics::as_typed, 1})[0].values[0];
      const auto found = fold(op, x, inputs[0].type.dtype, graph.type(y).dtype);
      INFO(ir::to_string(op) << " of " << x[0]);
      REQUIRE(found.has_value());
      CHECK((*found == expected || (std::isnan(*found) && std::isnan(expected))));
      ++num_checked;
    }
  };
#define DTJ_OP(name, category, num_operands) check(Op::name, num_operands);
#include "compiler/ir/ops.def"
#undef DTJ_OP
  CHECK(num_checked >= 5 * 29);
}

TEST_CASE("fold: rounds to the result's dtype", "[unit][passes]") {
  CHECK(fold(Op::div, {1, 3}, DType::f32, DType::f32) == static_cast<double>(1.0F / 3.0F));
  CHECK(fold(Op::cast, {1.0 / 3}, DType::f64, DType::bf16) == 0.333984375);
  CHECK(fold(Op::cast, {-2.7}, DType::f32, DType::i32) == -2.0);
}

TEST_CASE("fold: what has no defined result stays", "[unit][passes]") {
  CHECK_FALSE(fold(Op::div, {1, 0}, DType::i32, DType::i32).has_value());
  CHECK_FALSE(fold(Op::cast, {3e9}, DType::f32, DType::i32).has_value());
  CHECK_FALSE(fold(Op::cast, {NAN}, DType::f32, DType::i32).has_value());
  CHECK_FALSE(fold(Op::add, {2147483647.0, 1}, DType::i32, DType::i32).has_value());
  CHECK_FALSE(fold(Op::stop_gradient, {1}, DType::f32, DType::f32).has_value());
  CHECK(fold(Op::cast, {2147483647.0}, DType::f64, DType::i32) == 2147483647.0);
}
