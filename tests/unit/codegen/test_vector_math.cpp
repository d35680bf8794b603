#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/codegen/kernel_of.hpp"

using namespace dtj;
using namespace dtj::test;
using ir::Op;

namespace {

using Reference = long double (*)(long double);

/// One float function as a kernel of n elements.
std::vector<float> run_op(Op op, const std::vector<float>& x, const std::string& cpu = "") {
  ir::Graph graph;
  ir::Builder build(graph);
  const auto n = static_cast<std::int64_t>(x.size());
  graph.add_output(build.unary(op, graph.add_input({DType::f32, {n}}, ir::Port::plain, 0, "x")), ir::Port::plain, 0,
                   "y");
  const SingleKernel kernel = kernel_of(graph, cpu);
  std::vector<float> in = x, out(x.size());
  kernel({in.data(), out.data()});
  return out;
}

/// Every 997th float of [low, high], and a dense line.
std::vector<float> sweep(float low, float high) {
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits < 0xff000000U; bits += 997) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (value >= low && value <= high) x.push_back(value);
  }
  for (int i = 0; i <= 200000; ++i) x.push_back(low + (high - low) * static_cast<float>(i) / 200000);
  return x;
}

/// In units in the last place of the correctly rounded f32 result.
double worst_ulp(Op op, Reference reference, const std::vector<float>& x, const std::string& cpu = "") {
  const std::vector<float> y = run_op(op, x, cpu);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double wanted = reference(static_cast<long double>(x[i]));
    const float rounded = static_cast<float>(wanted);
    if (!std::isfinite(rounded)) {
      if (!(y[i] == rounded)) return std::numeric_limits<double>::infinity();
      continue;
    }
    const float magnitude = std::max(std::fabs(rounded), std::numeric_limits<float>::min());
    const float unit = std::nextafter(magnitude, std::numeric_limits<float>::infinity()) - magnitude;
    worst = std::max(worst, static_cast<double>(std::fabs(static_cast<long double>(y[i]) - wanted) / unit));
  }
  return worst;
}

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("vector math: errors stay within the stated bounds", "[unit][codegen]") {
  CHECK(worst_ulp(Op::exp, std::exp, sweep(-110, 90)) <= 1.1);
  CHECK(worst_ulp(Op::log, std::log, sweep(0, 3e38F)) <= 1.0);
  CHECK(worst_ulp(Op::tanh, std::tanh, sweep(-12, 12)) <= 2.5);
  CHECK(worst_ulp(Op::erf, std::erf, sweep(-5, 5)) <= 1.5);
  CHECK(worst_ulp(Op::sin, std::sin, sweep(-1000, 1000)) <= 1.6);
  CHECK(worst_ulp(Op::cos, std::cos, sweep(-1000, 1000)) <= 1.6);
}

TEST_CASE("vector math: a CPU without FMA keeps the bounds of 3 units", "[unit][codegen]") {
  CHECK(worst_ulp(Op::exp, std::exp, sweep(-20, 20), "x86-64") <= 3);
  CHECK(worst_ulp(Op::log, std::log, sweep(0.01F, 100), "x86-64") <= 3);
  CHECK(worst_ulp(Op::tanh, std::tanh, sweep(-9, 9), "x86-64") <= 4);
  CHECK(worst_ulp(Op::erf, std::erf, sweep(-4, 4), "x86-64") <= 3);
}

TEST_CASE("vector math: special values", "[unit][codegen]") {
  const std::vector<float> x = {0.0F, -0.0F, infinity, -infinity, not_a_number, 1e-45F, -1e30F, 1e30F, 89.0F, -105.0F};
  const std::vector<float> exps = run_op(Op::exp, x);
  CHECK(exps[0] == 1);
  CHECK(exps[2] == infinity);
  CHECK(exps[3] == 0);
  CHECK(std::isnan(exps[4]));
  CHECK(exps[6] == 0);
  CHECK(exps[7] == infinity);
  CHECK(exps[8] == infinity);
  CHECK(exps[9] == 0);
  const std::vector<float> logs = run_op(Op::log, x);
  CHECK(logs[0] == -infinity);
  CHECK(logs[1] == -infinity);
  CHECK(logs[2] == infinity);
  CHECK(std::isnan(logs[3]));
  CHECK(std::isnan(logs[4]));
  CHECK(std::fabs(logs[5] + 103.27893F) <= 1e-4F);
  for (const Op op : {Op::tanh, Op::erf}) {
    const std::vector<float> y = run_op(op, x);
    CHECK(std::signbit(y[1]));
    CHECK(y[2] == 1);
    CHECK(y[3] == -1);
    CHECK(std::isnan(y[4]));
    CHECK(y[6] == -1);
  }
  for (const Op op : {Op::sin, Op::cos}) {
    const std::vector<float> y = run_op(op, x);
    CHECK(y[0] == (op == Op::sin ? 0.0F : 1.0F));
    CHECK(std::isnan(y[2]));
    CHECK(std::isnan(y[3]));
    CHECK(std::isnan(y[4]));
  }
}

TEST_CASE("vector math: pow follows C", "[unit][codegen]") {
  std::vector<float> x, y;
  for (const float base :
       {0.0F, -0.0F, 1.0F, -1.0F, 2.5F, -2.5F, 0.3F, 1e-40F, 3e38F, infinity, -infinity, not_a_number})
    for (const float power :
         {0.0F, 1.0F, -1.0F, 2.0F, 3.0F, -3.0F, 0.5F, 2.7F, -0.3F, 40.0F, infinity, -infinity, not_a_number}) {
      x.push_back(base);
      y.push_back(power);
    }
  ir::Graph graph;
  ir::Builder build(graph);
  const ir::Type type{DType::f32, {static_cast<std::int64_t>(x.size())}};
  const ir::ValueId a = graph.add_input(type, ir::Port::plain, 0, "x");
  const ir::ValueId b = graph.add_input(type, ir::Port::plain, 1, "y");
  graph.add_output(build.binary(Op::pow, a, b), ir::Port::plain, 0, "z");
  std::vector<float> z(x.size());
  kernel_of(graph)({x.data(), y.data(), z.data()});
  for (std::size_t i = 0; i < z.size(); ++i) {
    INFO(x[i] << " ** " << y[i] << " = " << z[i]);
    const auto wanted = static_cast<float>(std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
    if (std::isnan(wanted))
      CHECK(std::isnan(z[i]));
    else if (std::isfinite(wanted))
      CHECK(std::fabs(z[i] - wanted) <= 1e-7F * std::fabs(wanted) + 1e-45F);
    else
      CHECK(z[i] == wanted);
  }
}

TEST_CASE("vector math: a lane gives the same bits wherever it stands", "[unit][codegen]") {
  for (const Op op : {Op::exp, Op::log, Op::tanh, Op::erf, Op::sin, Op::rsqrt}) {
    std::vector<float> x;
    for (int i = 0; i < 203; ++i) x.push_back(0.01F + 0.0437F * static_cast<float>(i));
    const std::vector<float> y = run_op(op, x);
    std::vector<float> reversed(x.rbegin(), x.rend());
    std::vector<float> z = run_op(op, reversed);
    std::reverse(z.begin(), z.end());
    INFO(ir::to_string(op));
    CHECK(std::memcmp(y.data(), z.data(), y.size() * sizeof(float)) == 0);
  }
}
