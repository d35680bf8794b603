#include <cmath>

#include "tests/property/gradient_check.hpp"
#include "tests/support/catch.hpp"

// Whole layers, through autodiff alone and through the whole list up to fusion. Legend: B batch, T positions, H heads,
// D head width, C channels, N classes.

using namespace dtj;
using ir::Op;
using ir::ValueId;
using test::Objective;

namespace {

/// Builds and checks twice.
template <class F>
void check_both(std::uint64_t seed, F build_and_check) {
  for (const bool whole_list : {false, true}) {
    Objective objective(seed);
    test::GradientCheckOptions options;
    options.whole_list = whole_list;
    build_and_check(objective, options);
  }
}

class Layers {
 public:
  explicit Layers(ir::Builder& build) : b(build) {}

  ValueId number(ValueId like, double value) {
    return b.broadcast(b.constant({DType::f32, {}}, value), b.type(like).shape);
  }
  ValueId add(ValueId x, ValueId y) { return b.binary(Op::add, x, y); }
  ValueId sub(ValueId x, ValueId y) { return b.binary(Op::sub, x, y); }
  ValueId mul(ValueId x, ValueId y) { return b.binary(Op::mul, x, y); }
  ValueId div(ValueId x, ValueId y) { return b.binary(Op::div, x, y); }
  ValueId over_last(Op op, ValueId x) {
    return b.reduce(op, x, {static_cast<std::int64_t>(b.type(x).shape.size()) - 1});
  }
  ValueId like(ValueId x, ValueId y) { return b.broadcast(x, b.type(y).shape); }

  ValueId layernorm(ValueId x, ValueId weight, ValueId bias) {
    const auto mean = [&](ValueId v) {
      return div(over_last(Op::reduce_sum, v),
                 number(over_last(Op::reduce_sum, v), static_cast<double>(b.type(v).shape.back())));
    };
    const ValueId centred = sub(x, like(mean(x), x));
    const ValueId variance = mean(mul(centred, centred));
    const ValueId scale = b.unary(Op::rsqrt, add(variance, number(variance, 1e-5)));
    return add(mul(mul(centred, like(scale, x)), like(weight, x)), like(bias, x));
  }

  ValueId softmax(ValueId x) {
    const ValueId e = b.unary(Op::exp, sub(x, like(b.unary(Op::stop_gradient, over_last(Op::reduce_max, x)), x)));
    return div(e, like(over_last(Op::reduce_sum, e), e));
  }

  /// x_BN, target_B: the mean over the targets that are not negative.
  ValueId cross_entropy(ValueId x, ValueId target) {
    const Shape shape = b.type(x).shape;
    const ValueId shifted = sub(x, like(b.unary(Op::stop_gradient, over_last(Op::reduce_max, x)), x));
    const ValueId log_sum = b.unary(Op::log, over_last(Op::reduce_sum, b.unary(Op::exp, shifted)));
    const ValueId target_B1 = b.reshape(target, {shape[0], 1});
    const ValueId hit = b.binary(Op::eq, b.iota({DType::i32, shape}, 1), b.broadcast(target_B1, shape));
    const ValueId picked = over_last(Op::reduce_sum, b.select(hit, shifted, number(shifted, 0)));
    const ValueId counted = b.binary(Op::ge, target_B1, b.constant({DType::i32, {shape[0], 1}}, 0));
    const ValueId losses = b.select(counted, sub(log_sum, picked), number(picked, 0));
    const ValueId count = b.reduce(Op::reduce_sum, b.cast(counted, DType::f32), {0});
    return b.reshape(div(b.reduce(Op::reduce_sum, losses, {0}), b.binary(Op::maximum, count, number(count, 1))), {});
  }

  ValueId gelu(ValueId x) {
    return mul(mul(number(x, 0.5), x), add(number(x, 1), b.unary(Op::erf, mul(x, number(x, std::sqrt(0.5))))));
  }

  /// q, k, v: [B H T D]
  ValueId causal_attention(ValueId q, ValueId k, ValueId v) {
    const Shape shape = b.type(q).shape;
    const Shape scores_shape{shape[0], shape[1], shape[2], shape[2]};
    const ValueId scores = b.matmul(q, k, false, true, DType::f32);
    const ValueId scaled = mul(scores, number(scores, 1 / std::sqrt(static_cast<double>(shape[3]))));
    const ValueId visible =
        b.binary(Op::ge, b.iota({DType::i32, scores_shape}, 2), b.iota({DType::i32, scores_shape}, 3));
    return b.matmul(softmax(b.select(visible, scaled, number(scaled, -1e30))), v, false, false, DType::f32);
  }

  ir::Builder& b;
};

}  // namespace

TEST_CASE("autodiff: layernorm", "[property][passes]") {
  check_both(1, [](Objective& objective, const auto& options) {
    Layers layers(objective.build);
    const ValueId x = objective.param({3, 7}), weight = objective.param({7}), bias = objective.param({7});
    objective.check(layers.layernorm(x, weight, bias), options);
  });
}

TEST_CASE("autodiff: softmax", "[property][passes]") {
  check_both(2, [](Objective& objective, const auto& options) {
    objective.check(Layers(objective.build).softmax(objective.param({3, 5})), options);
  });
}

TEST_CASE("autodiff: cross entropy with ignored targets", "[property][passes]") {
  check_both(3, [](Objective& objective, const auto& options) {
    const ValueId target = objective.data({DType::i32, {5}}, {0, 3, -1, 2, 3});
    objective.check_loss(Layers(objective.build).cross_entropy(objective.param({5, 4}), target), options);
  });
}

TEST_CASE("autodiff: causal attention of split projections", "[property][passes]") {
  check_both(4, [](Objective& objective, const auto& options) {
    constexpr std::int64_t B = 2, T = 3, H = 2, D = 3, C = H * D;
    ir::Builder& b = objective.build;
    const ValueId x = objective.param({B * T, C}), weight = objective.param({3 * C, C}, -0.5, 0.5),
                  proj = objective.param({C, C});
    const ValueId qkv = b.reshape(b.matmul(x, weight, false, true, DType::f32), {B, T, 3, H, D});
    const ValueId qkv_SBHTD = b.transpose(qkv, {2, 0, 3, 1, 4});
    std::vector<ValueId> parts;
    for (std::int64_t s = 0; s < 3; ++s)
      parts.push_back(b.reshape(b.slice(qkv_SBHTD, {s, s + 1, 0, B, 0, H, 0, T, 0, D}), {B, H, T, D}));
    const ValueId y = Layers(b).causal_attention(parts[0], parts[1], parts[2]);
    objective.check(b.matmul(b.reshape(b.transpose(y, {0, 2, 1, 3}), {B * T, C}), proj, false, true, DType::f32),
                    options);
  });
}

TEST_CASE("autodiff: perceptron with tied embedding, gelu and a residual", "[property][passes]") {
  check_both(5, [](Objective& objective, const auto& options) {
    constexpr std::int64_t N = 4, C = 3, hidden = 5;
    ir::Builder& b = objective.build;
    Layers layers(b);
    const ValueId tokens = objective.data({DType::i32, {N}}, {0, 2, 2, 5});
    const ValueId targets = objective.data({DType::i32, {N}}, {2, 2, 5, 1});
    const ValueId table = objective.param({6, C}), up = objective.param({hidden, C}),
                  down = objective.param({C, hidden});
    const ValueId bias = objective.param({hidden});
    const ValueId x = b.gather_rows(table, tokens);
    const ValueId h = layers.gelu(layers.add(b.matmul(x, up, false, true, DType::f32), b.broadcast(bias, {N, hidden})));
    const ValueId y = layers.add(x, b.matmul(h, down, false, true, DType::f32));
    objective.check_loss(layers.cross_entropy(b.matmul(y, table, false, true, DType::f32), targets), options);
  });
}

TEST_CASE("autodiff: relu perceptron in bf16 with f32 weights", "[property][passes]") {
  check_both(6, [](Objective& objective, const auto& options) {
    ir::Builder& b = objective.build;
    Layers layers(b);
    const ValueId x = b.cast(objective.random_data({4, 5}), DType::bf16);
    const ValueId targets = objective.data({DType::i32, {4}}, {0, 1, 2, 1});
    const auto weight = [&](Shape shape) { return b.cast(objective.param(std::move(shape)), DType::bf16); };
    const ValueId w1 = weight({6, 5}), b1 = weight({6}), w2 = weight({3, 6});
    const ValueId h = b.binary(Op::add, b.matmul(x, w1, false, true, DType::bf16), b.broadcast(b1, {4, 6}));
    const ValueId zero = b.broadcast(b.constant({DType::bf16, {}}, 0), {4, 6});
    const ValueId logits = b.matmul(b.binary(Op::maximum, h, zero), w2, false, true, DType::bf16);
    objective.check_loss(layers.cross_entropy(b.cast(logits, DType::f32), targets), options);
  });
}
