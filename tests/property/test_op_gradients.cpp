#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "compiler/passes/autodiff/vjp.hpp"
#include "tests/property/gradient_check.hpp"
#include "tests/support/catch.hpp"

// Every op that passes a gradient, on shapes with extents 0, 1 and odd sizes.

using namespace dtj;
using ir::Op;
using ir::ValueId;
using test::Objective;

namespace {

const std::vector<Shape> shapes = {{}, {1}, {7}, {0}, {3, 5}, {1, 9}, {4, 0, 2}, {2, 3, 5}};

using Check = std::function<void(std::uint64_t seed)>;

/// On params from [low, high): away from the places where the op has no derivative.
Check unary(Op op, double low, double high) {
  return [=](std::uint64_t seed) {
    for (const Shape& shape : shapes) {
      Objective objective(seed++);
      objective.check(objective.build.unary(op, objective.param(shape, low, high)));
    }
  };
}

struct Interval {
  double low, high;
};

Check binary(Op op, Interval a, Interval b) {
  return [=](std::uint64_t seed) {
    for (const Shape& shape : shapes) {
      Objective objective(seed++);
      const ValueId x = objective.param(shape, a.low, a.high), y = objective.param(shape, b.low, b.high);
      objective.check(objective.build.binary(op, x, y));
    }
    Objective same(seed);  // both operands one value
    const ValueId x = same.param({5}, std::max(a.low, b.low), std::min(a.high, b.high) + 0.5);
    if (op != Op::maximum && op != Op::minimum) same.check(same.build.binary(op, x, x));
  };
}

void check_select(std::uint64_t seed) {
  for (const Shape& shape : shapes) {
    Objective objective(seed++);
    ir::Builder& b = objective.build;
    const ValueId x = objective.param(shape), y = objective.param(shape);
    const ValueId condition = b.binary(Op::lt, objective.random_data(shape), objective.random_data(shape));
    objective.check(b.select(condition, x, y));
  }
}

void check_cast(std::uint64_t seed) {
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16}) {
    Objective objective(seed++);
    ir::Builder& b = objective.build;
    const ValueId x = b.cast(objective.param({3, 4}), dtype);
    objective.check(b.cast(b.binary(Op::mul, x, x), DType::f32));
  }
}

Check reduce(Op op) {
  return [=](std::uint64_t seed) {
    const std::vector<std::pair<Shape, std::vector<std::int64_t>>> cases = {
        {{7}, {0}},       {{1}, {0}},          {{3, 5}, {0}}, {{3, 5}, {1}},
        {{3, 5}, {0, 1}}, {{2, 3, 5}, {0, 2}}, {{0, 3}, {1}}, {{3, 1, 4}, {1}}};
    for (const auto& [shape, axes] : cases) {
      Objective objective(seed++);
      objective.check(objective.build.reduce(op, objective.param(shape), axes));
    }
  };
}

void check_broadcast(std::uint64_t seed) {
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{1}, {5}},    {{}, {3, 2}},     {{3, 1}, {3, 7}},      {{1, 1}, {4, 3}},
      {{5}, {2, 5}}, {{1, 3}, {0, 3}}, {{2, 1, 3}, {2, 4, 3}}};
  for (const auto& [from, to] : cases) {
    Objective objective(seed++);
    objective.check(objective.build.broadcast(objective.param(from), to));
  }
}

void check_reshape(std::uint64_t seed) {
  const std::vector<std::pair<Shape, Shape>> cases = {{{6}, {2, 3}}, {{2, 3, 5}, {5, 6}}, {{1}, {}}, {{0, 3}, {5, 0}}};
  for (const auto& [from, to] : cases) {
    Objective objective(seed++);
    objective.check(objective.build.reshape(objective.param(from), to));
  }
}

void check_transpose(std::uint64_t seed) {
  const std::vector<std::pair<Shape, std::vector<std::int64_t>>> cases = {
      {{3, 5}, {1, 0}}, {{2, 3, 5}, {2, 0, 1}}, {{2, 3, 5}, {1, 2, 0}}, {{1, 4, 3, 2}, {3, 0, 2, 1}}, {{0, 2}, {1, 0}}};
  for (const auto& [shape, order] : cases) {
    Objective objective(seed++);
    objective.check(objective.build.transpose(objective.param(shape), order));
  }
}

void check_slice(std::uint64_t seed) {
  const std::vector<std::pair<Shape, std::vector<std::int64_t>>> cases = {
      {{7}, {2, 5}}, {{7}, {0, 7}}, {{7}, {3, 3}}, {{3, 5}, {1, 3, 0, 4}}, {{2, 3, 5}, {0, 1, 1, 2, 2, 5}}};
  for (const auto& [shape, range] : cases) {
    Objective objective(seed++);
    objective.check(objective.build.slice(objective.param(shape), range));
  }
}

void check_pad(std::uint64_t seed) {
  const std::vector<std::pair<Shape, std::vector<std::int64_t>>> cases = {
      {{3}, {2, 1}}, {{0}, {2, 1}}, {{3, 5}, {0, 1, 2, 0}}, {{2, 1, 3}, {0, 0, 1, 1, 0, 2}}};
  for (const auto& [shape, widths] : cases) {
    Objective objective(seed++);
    objective.check(objective.build.pad(objective.param(shape), widths));
  }
}

void check_concat(std::uint64_t seed) {
  for (const std::int64_t axis : {0, 1}) {
    for (const std::int64_t extent : {0, 1, 4}) {
      Objective objective(seed++);
      const Shape other = axis == 0 ? Shape{extent, 3} : Shape{2, extent};
      const ValueId first = objective.param({2, 3}), second = objective.param(other);
      objective.check(objective.build.concat({first, second, first}, axis));
    }
  }
}

void check_windows(std::uint64_t seed) {
  const std::vector<std::pair<Shape, std::vector<std::int64_t>>> cases = {
      {{7}, {0, 3, 1}},          {{7}, {0, 3, 2}},      {{8}, {0, 2, 3}},
      {{6}, {0, 2, 2}},          {{2, 5, 6}, {1, 3, 1, 2, 3, 1}}, {{2, 7, 6}, {1, 3, 2, 2, 2, 2}},
      {{1, 4, 2}, {0, 1, 1, 2, 2, 1}}, {{5, 3}, {0, 5, 4}}, {{9, 8}, {0, 1, 2, 1, 1, 2}}};
  for (const auto& [shape, ints] : cases) {
    Objective objective(seed++);
    objective.check(objective.build.windows(objective.param(shape), ints));
  }
}

void check_fold(std::uint64_t seed) {
  const std::vector<std::pair<Shape, std::vector<std::int64_t>>> cases = {
      {{5, 3}, {0, 3, 1, 7}}, {{3, 3}, {0, 3, 2, 8}}, {{2, 3, 2, 3, 2}, {1, 3, 2, 7, 2, 2, 2, 5}}};
  for (const auto& [shape, ints] : cases) {
    Objective objective(seed++);
    objective.check(objective.build.fold(objective.param(shape), ints));
  }
}

void check_matmul(std::uint64_t seed) {
  struct Case {
    Shape batch;
    std::int64_t m, n, k;
  };
  const std::vector<Case> cases = {{{}, 3, 5, 4}, {{}, 1, 1, 1},  {{}, 2, 3, 0},
                                   {{}, 0, 3, 2}, {{3}, 2, 4, 5}, {{2, 1}, 3, 1, 2}};
  for (const Case& c : cases) {
    for (int trans = 0; trans < 4; ++trans) {
      Objective objective(seed++);
      const bool trans_a = (trans & 1) != 0, trans_b = (trans & 2) != 0;
      const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        Shape shape = c.batch;
        shape.insert(shape.end(), {rows, columns});
        return shape;
      };
      const ValueId x = objective.param(trans_a ? matrix(c.k, c.m) : matrix(c.m, c.k));
      const ValueId y = objective.param(trans_b ? matrix(c.n, c.k) : matrix(c.k, c.n));
      objective.check(objective.build.matmul(x, y, trans_a, trans_b, DType::f32));
    }
  }
}

void check_matmul_bf16(std::uint64_t seed) {
  for (const DType result : {DType::bf16, DType::f32}) {
    Objective objective(seed++);
    ir::Builder& b = objective.build;
    const ValueId x = b.cast(objective.param({3, 5}), DType::bf16), w = b.cast(objective.param({4, 5}), DType::bf16);
    objective.check(b.matmul(b.binary(Op::mul, x, x), w, false, true, result));
  }
}

void check_gather(std::uint64_t seed) {
  Objective objective(seed);
  const ValueId index = objective.data({DType::i32, {5}}, {2, 0, 2, 3, 2});
  objective.check(objective.build.gather_rows(objective.param({4, 3}), index));
  Objective empty(seed + 1);
  const ValueId none = empty.data({DType::i32, {0}}, {});
  empty.check(empty.build.gather_rows(empty.param({4, 3}), none));
}

void check_scatter(std::uint64_t seed) {
  Objective objective(seed);
  const ValueId index = objective.data({DType::i32, {5}}, {2, 0, 2, 3, 2});
  objective.check(objective.build.scatter_add_rows(index, objective.param({5, 3}), 6));
}

void check_all_reduce(std::uint64_t seed) {
  Objective objective(seed);
  ir::Builder& b = objective.build;
  const ValueId x = objective.param({3}), y = objective.param({3});
  const auto sums = b.all_reduce({x, y}, "dp", 0);
  objective.check(b.binary(Op::mul, sums[0], b.unary(Op::exp, sums[1])));
}

const std::map<Op, Check>& checks() {
  static const std::map<Op, Check> table = {
      {Op::neg, unary(Op::neg, -2, 2)},
      {Op::exp, unary(Op::exp, -2, 2)},
      {Op::log, unary(Op::log, 0.5, 3)},
      {Op::sqrt, unary(Op::sqrt, 0.5, 3)},
      {Op::rsqrt, unary(Op::rsqrt, 0.5, 3)},
      {Op::tanh, unary(Op::tanh, -2, 2)},
      {Op::erf, unary(Op::erf, -2, 2)},
      {Op::sin, unary(Op::sin, -4, 4)},
      {Op::cos, unary(Op::cos, -4, 4)},
      {Op::abs,
       [](std::uint64_t seed) {
         unary(Op::abs, 0.1, 2)(seed);
         unary(Op::abs, -2, -0.1)(seed);
       }},
      {Op::cast, check_cast},
      {Op::add, binary(Op::add, {-2, 2}, {-2, 2})},
      {Op::sub, binary(Op::sub, {-2, 2}, {-2, 2})},
      {Op::mul, binary(Op::mul, {-2, 2}, {-2, 2})},
      {Op::div, binary(Op::div, {-2, 2}, {0.5, 3})},
      {Op::pow, binary(Op::pow, {0.5, 2}, {-2, 3})},
      {Op::maximum,
       [](std::uint64_t seed) {
         binary(Op::maximum, {0, 1}, {1.1, 2})(seed);
         binary(Op::maximum, {0, 1}, {-2, -0.1})(seed);
       }},
      {Op::minimum,
       [](std::uint64_t seed) {
         binary(Op::minimum, {0, 1}, {1.1, 2})(seed);
         binary(Op::minimum, {0, 1}, {-2, -0.1})(seed);
       }},
      {Op::select, check_select},
      {Op::reduce_sum, reduce(Op::reduce_sum)},
      {Op::reduce_max, reduce(Op::reduce_max)},
      {Op::broadcast, check_broadcast},
      {Op::reshape, check_reshape},
      {Op::transpose, check_transpose},
      {Op::slice, check_slice},
      {Op::pad, check_pad},
      {Op::concat, check_concat},
      {Op::windows, check_windows},
      {Op::fold, check_fold},
      {Op::matmul,
       [](std::uint64_t seed) {
         check_matmul(seed);
         check_matmul_bf16(seed);
       }},
      {Op::gather_rows, check_gather},
      {Op::scatter_add_rows, check_scatter},
      {Op::all_reduce, check_all_reduce},
  };
  return table;
}

/// Constant almost everywhere, of integers or bools, without operands, cut on purpose, or made after autodiff.
const std::vector<Op> not_differentiable = {
    Op::constant, Op::iota, Op::random, Op::floor, Op::sign, Op::logical_not, Op::stop_gradient, Op::eq,          Op::ne,
    Op::lt,       Op::le,   Op::gt,    Op::ge,   Op::logical_and, Op::logical_or,    Op::argmax_last, Op::fused};

}  // namespace

TEST_CASE("vjp: every op is checked or listed as not differentiable", "[property][passes]") {
  const auto check = [](Op op) {
    INFO(ir::to_string(op));
    const bool listed = std::count(not_differentiable.begin(), not_differentiable.end(), op) == 1;
    CHECK(listed != (checks().count(op) == 1));
    CHECK(passes::passes_gradient(op) != listed);
  };
#define DTJ_OP(name, category, num_operands) check(Op::name);
#include "compiler/ir/ops.def"
#undef DTJ_OP
}

TEST_CASE("vjp: every op agrees with central differences", "[property][passes]") {
  for (const auto& [op, check] : checks()) {
    INFO(ir::to_string(op));
    for (const std::uint64_t seed : {100, 200, 300}) check(seed);
  }
}

TEST_CASE("vjp: ops that pass no gradient give zeros", "[property][passes]") {
  for (const Op op : {Op::floor, Op::sign, Op::stop_gradient}) {
    INFO(ir::to_string(op));
    Objective objective(7);
    ir::Builder& b = objective.build;
    const ValueId x = objective.param({5}, 0.1, 0.9);
    ValueId y = b.unary(op, x);
    if (op == Op::stop_gradient) y = b.binary(Op::sub, y, b.unary(Op::stop_gradient, x));
    objective.check(y);
  }
}
