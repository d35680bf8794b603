#include <cmath>
#include <functional>
#include <string>

#include "compiler/ir/graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/codegen/jit_runner.hpp"

using namespace dtj;
using namespace dtj::test;
using ir::Op;
using ir::ValueId;

namespace {

/// Empty, 1-wide, around the vector widths, and with several dims.
const std::vector<Shape> shapes = {{},     {0},    {1},    {5},     {31},      {100},
                                   {3, 0}, {1, 7}, {3, 5}, {4, 33}, {2, 3, 9}, {2, 1, 40}};

struct TestGraph {
  ir::Graph graph;
  ir::Builder build{graph};
  ValueId input(DType dtype, Shape shape) {
    const auto number = static_cast<std::uint32_t>(graph.inputs().size());
    return graph.add_input({dtype, std::move(shape)}, ir::Port::plain, number, "x" + std::to_string(number));
  }
  void output(ValueId value) {
    graph.add_output(value, ir::Port::plain, static_cast<std::uint32_t>(graph.outputs().size()), "");
  }
};

/// One compilation for all shapes of one op.
double check_op(const std::function<void(TestGraph&, const Shape&)>& make, double low = -2, double high = 2) {
  TestGraph test;
  for (const Shape& shape : shapes) make(test, shape);
  std::vector<Tensor> inputs;
  for (const ir::Input& input : test.graph.inputs())
    inputs.push_back(random_tensor(test.graph.type(input.value), inputs.size() + 1, low, high));
  return check_against_interpreter(test.graph, inputs);
}

double check_unary(Op op, DType dtype, double low, double high) {
  return check_op([&](TestGraph& t, const Shape& shape) { t.output(t.build.unary(op, t.input(dtype, shape))); }, low,
                  high);
}

double check_binary(Op op, DType dtype, double low, double high) {
  return check_op(
      [&](TestGraph& t, const Shape& shape) {
        const ValueId a = t.input(dtype, shape);
        t.output(t.build.binary(op, a, t.input(dtype, shape)));
      },
      low, high);
}

}  // namespace

TEST_CASE("kernel: unary f32 and f64 ops agree with the interpreter", "[unit][codegen]") {
  for (const Op op : {Op::neg, Op::exp, Op::tanh, Op::erf, Op::sin, Op::cos, Op::abs, Op::floor, Op::sign}) {
    INFO(ir::to_string(op));
    CHECK(check_unary(op, DType::f32, -3, 3) <= 1e-6);
    CHECK(check_unary(op, DType::f64, -3, 3) <= 1e-14);
  }
  for (const Op op : {Op::log, Op::sqrt, Op::rsqrt}) {
    INFO(ir::to_string(op));
    CHECK(check_unary(op, DType::f32, 0.1, 9) <= 1e-6);
    CHECK(check_unary(op, DType::f64, 0.1, 9) <= 1e-14);
  }
}

TEST_CASE("kernel: binary ops agree with the interpreter", "[unit][codegen]") {
  for (const Op op :
       {Op::add, Op::sub, Op::mul, Op::div, Op::maximum, Op::minimum, Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge}) {
    INFO(ir::to_string(op));
    CHECK(check_binary(op, DType::f32, -3, 3) <= 1e-6);
    CHECK(check_binary(op, DType::f64, -3, 3) <= 1e-14);
    CHECK(check_binary(op, DType::i32, 1, 9) == 0);
    CHECK(check_binary(op, DType::i64, -9, -1) == 0);
    CHECK(check_binary(op, DType::u8, 5, 15) == 0);
  }
  CHECK(check_binary(Op::pow, DType::f32, 0.2, 3) <= 1e-6);
  CHECK(check_binary(Op::pow, DType::f64, 0.2, 3) <= 1e-13);
  for (const Op op : {Op::logical_and, Op::logical_or, Op::eq, Op::ne})
    CHECK(check_binary(op, DType::boolean, 0, 1) == 0);
}

TEST_CASE("kernel: casts and select agree with the interpreter", "[unit][codegen]") {
  const std::vector<DType> dtypes = {DType::f32, DType::f64, DType::i32,    DType::i64,
                                     DType::u8,  DType::u16, DType::boolean};
  for (const DType from : dtypes) {
    INFO(to_string(from));
    CHECK(check_op(
              [&](TestGraph& t, const Shape& shape) {
                const ValueId x = t.input(from, shape);
                for (const DType to : dtypes)
                  if (to != from) t.output(t.build.cast(x, to));
              },
              0, 7) <= 1e-6);
    CHECK(check_op(
              [&](TestGraph& t, const Shape& shape) {
                const ValueId condition = t.input(DType::boolean, shape);
                const ValueId a = t.input(from, shape);
                t.output(t.build.select(t.build.unary(Op::logical_not, condition), a, t.input(from, shape)));
              },
              0, 7) <= 1e-12);
  }
}

TEST_CASE("kernel: integer division by zero does not trap", "[unit][codegen]") {
  TestGraph t;
  const ValueId a = t.input(DType::i32, {9});
  t.output(t.build.binary(Op::div, a, t.input(DType::i32, {9})));
  Tensor x{{DType::i32, {9}}, {1, 7, -7, 0, 9, -2147483648.0, 6, 5, -2147483648.0}};
  Tensor y{{DType::i32, {9}}, {0, 2, 2, 5, -1, -1, 0, 0, 1}};
  const std::vector<Tensor> out = run_jit(fuse(t.graph), {x, y});
  CHECK(out[0].values == std::vector<double>{0, 3, -3, 0, -9, -2147483648.0, 0, 0, -2147483648.0});
}

TEST_CASE("kernel: leaves agree with the interpreter", "[unit][codegen]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64}) {
    CHECK(check_op([&](TestGraph& t, const Shape& shape) {
            t.output(t.build.constant({dtype, shape}, 3));
            for (std::size_t axis = 0; axis < shape.size(); ++axis)
              t.output(t.build.iota({dtype, shape}, static_cast<std::int64_t>(axis)));
          }) == 0);
  }
}

TEST_CASE("kernel: reductions over every set of axes agree with the interpreter", "[unit][codegen]") {
  for (const Op op : {Op::reduce_sum, Op::reduce_max})
    for (const DType dtype : {DType::f32, DType::f64, DType::i32}) {
      INFO(ir::to_string(op));
      CHECK(check_op([&](TestGraph& t, const Shape& shape) {
              const ValueId x = t.input(dtype, shape);
              for (unsigned mask = 0; mask < 1U << shape.size(); ++mask) {
                if (dtype == DType::i32 && op == Op::reduce_max && num_elements(shape) == 0) continue;
                std::vector<std::int64_t> axes;
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                  if ((mask >> axis & 1U) != 0) axes.push_back(static_cast<std::int64_t>(axis));
                t.output(t.build.reduce(op, x, axes));
              }
            }) <= 1e-5);
    }
}

TEST_CASE("kernel: movement agrees with the interpreter", "[unit][codegen]") {
  TestGraph t;
  for (const DType dtype : {DType::f32, DType::i32, DType::u8}) {
    const ValueId x = t.input(dtype, {3, 5, 18});
    for (const std::vector<std::int64_t>& order :
         std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}})
      t.output(t.build.transpose(x, order));
    t.output(t.build.slice(x, {1, 3, 0, 5, 2, 11}));
    t.output(t.build.slice(x, {1, 1, 0, 5, 2, 11}));
    t.output(t.build.pad(x, {1, 0, 0, 2, 0, 0}));
    t.output(t.build.pad(x, {0, 0, 0, 0, 3, 4}));
    t.output(t.build.pad(x, {2, 1, 1, 1, 1, 1}));
    for (std::int64_t axis = 0; axis < 3; ++axis)
      t.output(t.build.concat({x, x, t.build.slice(x, {0, 3, 0, 5, 0, 18})}, axis));
    t.output(t.build.concat({x, t.build.slice(x, {0, 3, 0, 5, 4, 4}), t.build.slice(x, {0, 3, 0, 5, 7, 18})}, 2));
    const ValueId row = t.input(dtype, {3, 1, 18});
    t.output(t.build.broadcast(row, {3, 4, 18}));
    t.output(t.build.broadcast(t.input(dtype, {1, 1}), {3, 4}));
    t.output(t.build.broadcast(t.input(dtype, {6, 1}), {6, 9}));
  }
  CHECK(check_against_interpreter(t.graph, random_inputs(t.graph, 5)) == 0);
}

TEST_CASE("kernel: transposes in tiles agree with the interpreter", "[unit][codegen]") {
  TestGraph t;
  const ValueId x = t.input(DType::f32, {3, 96, 41});
  t.output(t.build.transpose(x, {0, 2, 1}));
  t.output(t.build.transpose(x, {2, 0, 1}));
  const ValueId y = t.input(DType::f32, {41, 96});
  const ValueId turned = t.build.transpose(t.build.slice(x, {1, 2, 0, 96, 0, 41}), {0, 2, 1});
  t.output(t.build.binary(Op::add, y, t.build.reshape(turned, {41, 96})));
  CHECK(check_against_interpreter(t.graph, random_inputs(t.graph, 9)) <= 1e-6);
}

TEST_CASE("kernel: movement of computed values agrees with the interpreter", "[unit][codegen]") {
  TestGraph t;
  const ValueId x = t.input(DType::f32, {2, 6, 24});
  const ValueId bias = t.input(DType::f32, {24});
  const ValueId y = t.build.binary(Op::add, x, t.build.broadcast(bias, {2, 6, 24}));
  // The heads of attention: "b t (s h d) -> s b h t d".
  const ValueId heads = t.build.transpose(t.build.reshape(y, {2, 6, 3, 2, 4}), {2, 0, 3, 1, 4});
  for (std::int64_t s = 0; s < 3; ++s)
    t.output(t.build.reshape(t.build.slice(heads, {s, s + 1, 0, 2, 0, 2, 0, 6, 0, 4}), {2, 2, 6, 4}));
  // And back, as its gradient does.
  std::vector<ValueId> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(t.build.reshape(t.input(DType::f32, {2, 2, 6, 4}), {1, 2, 2, 6, 4}));
  ValueId sum = t.build.pad(parts[0], {0, 2, 0, 0, 0, 0, 0, 0, 0, 0});
  sum = t.build.binary(Op::add, sum, t.build.pad(parts[1], {1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  sum = t.build.binary(Op::add, sum, t.build.pad(parts[2], {2, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  t.output(t.build.reshape(t.build.transpose(sum, {1, 3, 0, 2, 4}), {12, 24}));
  t.output(t.build.concat({t.build.unary(Op::neg, x), t.build.unary(Op::exp, x)}, 2));
  CHECK(check_against_interpreter(t.graph, random_inputs(t.graph, 6)) <= 1e-6);
}
