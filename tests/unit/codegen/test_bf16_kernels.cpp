#include <cmath>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/codegen/jit_runner.hpp"

using namespace dtj;
using namespace dtj::test;
using ir::Op;
using ir::ValueId;

namespace {

/// Distance in steps of bf16 of the larger.
double bf16_ulp(double a, double b) {
  const double magnitude = std::max({std::fabs(a), std::fabs(b), 1e-30});
  return std::fabs(a - b) / std::exp2(std::floor(std::log2(magnitude)) - 7);
}

}  // namespace

TEST_CASE("bf16 kernel: stores round to nearest even and keep nan", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  const std::int64_t n = 77;
  const ValueId x = graph.add_input({DType::f32, {n}}, ir::Port::plain, 0, "x");
  const ValueId rounded = build.cast(x, DType::bf16);
  graph.add_output(rounded, ir::Port::plain, 0, "stored");
  graph.add_output(build.cast(rounded, DType::f32), ir::Port::plain, 1, "cast");
  Tensor in = random_tensor({DType::f32, {n}}, 3, -1e3, 1e3);
  in.values[0] = std::nan("");
  in.values[1] = INFINITY;
  in.values[2] = 3.4028234663852886e38;
  in.values[3] = 1.00390625;  // halfway between two, the lower one is even
  in.values[4] = 1.01171875;  // halfway, the upper one is even
  in.values[5] = -0.0;
  const std::vector<Tensor> out = run_jit(fuse(graph), {in});
  for (std::size_t i = 0; i < in.values.size(); ++i) {
    const double wanted = round_to(DType::bf16, in.values[i]);
    if (std::isnan(wanted)) {
      CHECK(std::isnan(out[0].values[i]));
      CHECK(std::isnan(out[1].values[i]));
      continue;
    }
    CHECK(out[0].values[i] == wanted);
    CHECK(out[1].values[i] == wanted);
  }
}

TEST_CASE("bf16 kernel: computes in f32 and rounds results once", "[unit][codegen]") {
  for (const Shape& shape : std::vector<Shape>{{0, 3}, {1, 1}, {3, 5}, {5, 72}, {2, 131}}) {
    ir::Graph graph;
    ir::Builder build(graph);
    const ValueId a = graph.add_input({DType::bf16, shape}, ir::Port::plain, 0, "a");
    const ValueId b = graph.add_input({DType::bf16, shape}, ir::Port::plain, 1, "b");
    const ValueId y = build.binary(Op::add, build.unary(Op::tanh, build.binary(Op::mul, a, b)), a);
    graph.add_output(y, ir::Port::plain, 0, "y");
    graph.add_output(build.reduce(Op::reduce_sum, y, {1}), ir::Port::plain, 1, "row");
    graph.add_output(build.reduce(Op::reduce_sum, build.binary(Op::mul, a, b), {0}), ir::Port::plain, 2, "column");
    const std::vector<Tensor> inputs = random_inputs(graph, 11);
    const std::vector<Tensor> wanted = interpret(graph, inputs);
    const std::vector<Tensor> got = run_jit(fuse(graph), inputs);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      for (std::size_t k = 0; k < wanted[i].values.size(); ++k)
        CHECK(bf16_ulp(got[i].values[k], round_to(DType::bf16, wanted[i].values[k])) <= 1.0);
  }
}

TEST_CASE("f16 kernel: loads and stores where the CPU converts, refuses elsewhere", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  const ValueId x = graph.add_input({DType::f16, {45}}, ir::Port::plain, 0, "x");
  graph.add_output(build.binary(Op::mul, x, x), ir::Port::plain, 0, "y");
  const ir::Graph fused = fuse(graph);
  codegen::HostKernelCompiler plain("x86-64");
  const auto refused = plain.add(fused.nodes()[0], fused);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::unimplemented);
  codegen::HostKernelCompiler host;
  if (!host.add(fused.nodes()[0], fused)) return;
  const std::vector<Tensor> inputs = random_inputs(graph, 3);
  const std::vector<Tensor> out = run_jit(fused, inputs);
  for (std::size_t i = 0; i < out[0].values.size(); ++i)
    CHECK(out[0].values[i] == round_to(DType::f16, inputs[0].values[i] * inputs[0].values[i]));
}
