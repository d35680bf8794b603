#include "tests/unit/codegen/kernel_of.hpp"

#include <cmath>
#include <numeric>

#include "tests/support/random_graph.hpp"

using namespace dtj;
using namespace dtj::test;
using ir::Op;

namespace {

ir::Graph doubled(Shape shape, DType dtype = DType::f32) {
  ir::Graph graph;
  ir::Builder build(graph);
  const ir::ValueId x = graph.add_input({dtype, std::move(shape)}, ir::Port::plain, 0, "x");
  graph.add_output(build.binary(Op::add, x, x), ir::Port::plain, 0, "y");
  return fuse(std::move(graph));
}

codegen::KernelUse add(codegen::HostKernelCompiler& compiler, const ir::Graph& graph) {
  for (const ir::Node& node : graph.nodes())
    if (node.op == Op::fused) return compiler.add(node, graph).value();
  FAIL("nothing is fused");
  return {};
}

const ir::Node& fused_node(const ir::Graph& graph) {
  for (const ir::Node& node : graph.nodes())
    if (node.op == Op::fused) return node;
  FAIL("nothing is fused");
  return graph.nodes().front();
}

}  // namespace

TEST_CASE("HostKernelCompiler: flat regions of any size share a kernel", "[unit][codegen]") {
  codegen::HostKernelCompiler compiler;
  const codegen::KernelUse a = add(compiler, doubled({7}));
  const codegen::KernelUse b = add(compiler, doubled({4, 5, 6}));
  const codegen::KernelUse c = add(compiler, doubled({7}, DType::f64));
  CHECK(a.kernel == b.kernel);
  CHECK(a.kernel != c.kernel);
  CHECK(a.extent == 7);
  CHECK(b.extent == 120);
  CHECK(b.work_items == 120);
  const auto output = compiler.finish(2).value();
  CHECK(output.kernels.size() == 2);
  CHECK(output.objects.size() == 2);
}

TEST_CASE("HostKernelCompiler: objects do not depend on the number of threads or the run", "[unit][codegen]") {
  const auto compile = [](int threads) {
    codegen::HostKernelCompiler compiler;
    add(compiler, doubled({7}));
    return compiler.finish(threads).value();
  };
  CHECK(compile(1).objects == compile(4).objects);
}

TEST_CASE("HostKernelCompiler: an op that no kernel can hold is named", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  auto region = std::make_shared<ir::Graph>();
  ir::Builder inside(*region);
  const ir::Type type{DType::f32, {2, 2}};
  const ir::ValueId x = region->add_input(type, ir::Port::plain, 0, "");
  region->add_output(inside.matmul(x, x, false, false, DType::f32), ir::Port::plain, 0, "");
  const ir::ValueId a = graph.add_input(type, ir::Port::plain, 0, "a");
  ir::Attrs attrs;
  attrs.text = "elementwise";
  graph.add_node(Op::fused, {a}, {type}, attrs, {}, region);
  codegen::HostKernelCompiler compiler;
  const auto use = compiler.add(graph.nodes()[0], graph);
  REQUIRE_FALSE(use.has_value());
  CHECK(use.error().code == ErrorCode::unimplemented);
  CHECK(use.error().message.find("matmul") != std::string::npos);
}

TEST_CASE("make_host_kernel_loader: refuses a plan for another CPU and damaged objects", "[unit][codegen]") {
  codegen::HostKernelCompiler compiler;
  add(compiler, doubled({7}));
  const auto output = compiler.finish(1).value();
  plan::ExecutionPlan plan;
  plan.kernels = output.kernels;
  plan.objects = output.objects;
  const auto loader = codegen::make_host_kernel_loader().value();
  plan.target = "aarch64-unknown-linux-gnu;neoverse-n1;+neon";
  CHECK(loader->load(plan).error().code == ErrorCode::unimplemented);
  plan.target = output.target;
  CHECK(loader->load(plan).has_value());
  plan.objects[0] = plan.objects[0].substr(0, plan.objects[0].size() / 2);
  CHECK(loader->load(plan).error().code == ErrorCode::data_loss);
  plan.objects[0] = "not an object";
  CHECK(loader->load(plan).error().code == ErrorCode::data_loss);
  plan.objects = output.objects;
  plan.kernels[0].symbol = "missing";
  CHECK(loader->load(plan).error().code == ErrorCode::data_loss);
}

TEST_CASE("HostKernelCompiler: compiles for CPUs with wider and narrower vectors", "[unit][codegen]") {
  const ir::Graph fused = fuse(random_graph(3, 6, 40, 12));
  for (const char* cpu : {"x86-64", "x86-64-v3", "sapphirerapids"}) {
    codegen::HostKernelCompiler compiler(cpu);
    for (const ir::Node& node : fused.nodes())
      if (node.op == Op::fused) REQUIRE(compiler.add(node, fused).has_value());
    CHECK(compiler.finish(1).has_value());
  }
  JitOptions plain;
  plain.cpu = "x86-64";
  const ir::Graph graph = random_graph(3, 6, 40, 12);
  const std::vector<Tensor> inputs = random_inputs(graph, 3);
  const std::vector<Tensor> wanted = interpret(graph, inputs);
  const std::vector<Tensor> got = run_jit(fused, inputs, plain);
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(relative_distance(got[i], wanted[i]) <= 1e-5);
}

TEST_CASE("can_run_in_place: where every element is read before it is written", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder build(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {4, 8}}, ir::Port::plain, 0, "x");
  const ir::ValueId b = graph.add_input({DType::f32, {1, 8}}, ir::Port::plain, 1, "b");
  graph.add_output(build.binary(Op::add, x, build.broadcast(b, {4, 8})), ir::Port::plain, 0, "y");
  const ir::Graph fused = fuse(graph);
  const std::vector<ir::ValueId>& operands = fused_node(fused).operands;
  REQUIRE(operands.size() == 2);
  for (std::size_t i = 0; i < operands.size(); ++i)
    CHECK(codegen::can_run_in_place(fused_node(fused), i, 0) == (fused.type(operands[i]).shape == Shape{4, 8}));

  ir::Graph moved;
  ir::Builder move(moved);
  const ir::ValueId m = moved.add_input({DType::f32, {4, 4}}, ir::Port::plain, 0, "x");
  moved.add_output(move.binary(Op::add, m, move.transpose(m, {1, 0})), ir::Port::plain, 0, "y");
  const ir::Graph fused_move = fuse(moved);
  for (std::size_t i = 0; i < fused_node(fused_move).operands.size(); ++i)
    if (count_fused(fused_move) == 1) CHECK_FALSE(codegen::can_run_in_place(fused_node(fused_move), i, 0));
}

TEST_CASE("reduce_sum: ten million floats keep six digits", "[unit][codegen]") {
  const std::int64_t n = 10'000'019;
  ir::Graph graph;
  ir::Builder build(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {n}}, ir::Port::plain, 0, "x");
  graph.add_output(build.reduce(Op::reduce_sum, build.binary(Op::mul, x, x), {0}), ir::Port::plain, 0, "sum");
  std::vector<float> data(static_cast<std::size_t>(n));
  double wanted = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = 0.1F + 0.9F * static_cast<float>(i % 1013) / 1013.0F;
    wanted += static_cast<double>(data[i] * data[i]);
  }
  float sum = 0;
  kernel_of(graph)({data.data(), &sum});
  CHECK(std::fabs(sum - wanted) <= 2e-7 * wanted);
}

TEST_CASE("reduce_sum: long columns keep six digits", "[unit][codegen]") {
  const std::int64_t rows = 200'003, columns = 11;
  ir::Graph graph;
  ir::Builder build(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {rows, columns}}, ir::Port::plain, 0, "x");
  graph.add_output(build.reduce(Op::reduce_sum, x, {0}), ir::Port::plain, 0, "sum");
  std::vector<float> data(static_cast<std::size_t>(rows * columns));
  std::vector<double> wanted(columns, 0.0);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = 0.1F + 0.9F * static_cast<float>(i % 1013) / 1013.0F;
    wanted[i % columns] += static_cast<double>(data[i]);
  }
  std::vector<float> sum(columns);
  kernel_of(graph)({data.data(), sum.data()});
  for (std::size_t i = 0; i < sum.size(); ++i) CHECK(std::fabs(sum[i] - wanted[i]) <= 2e-7 * wanted[i]);
}
