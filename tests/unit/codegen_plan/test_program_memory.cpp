#include <algorithm>

#include "engine/base/philox.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/codegen_plan/memory_checker.hpp"
#include "tests/unit/codegen_plan/program_graphs.hpp"

using namespace dtj;
using namespace dtj::codegen;
using namespace dtj::test;

namespace {

/// One program of a job, laid out and checked.
struct Laid {
  PlanInput input;
  plan::ExecutionPlan plan;
  SharedBuffers shared;
  ProgramMemory memory;

  const plan::Buffer& buffer(ir::ValueId value) const { return plan.buffers[memory.buffers[value.value]->value]; }
};

Laid lay_out(const ir::Graph& graph, ProgramRole role, std::size_t num_params = 2, std::size_t num_states = 2,
             std::int64_t dp = 2) {
  Laid laid;
  laid.input.job.mesh.dp = dp;
  for (std::size_t i = 0; i < num_params; ++i) laid.input.params.push_back(square_tensor("p" + std::to_string(i)));
  for (std::size_t i = 0; i < num_states; ++i) laid.input.states.push_back(square_tensor("s" + std::to_string(i)));
  if (role == ProgramRole::update) laid.input.update = graph;
  if (role == ProgramRole::train) laid.input.micro_only = graph;
  laid.plan.job = laid.input.job;
  auto shared = lay_out_shared(laid.input, laid.plan);
  REQUIRE(shared);
  laid.shared = std::move(*shared);
  const ir::Graph& program = role == ProgramRole::train ? *laid.input.micro_only : graph;
  auto memory = plan_memory(program, role, laid.shared, laid.plan);
  REQUIRE(memory);
  laid.memory = std::move(*memory);
  CHECK_FALSE(find_conflict(laid.memory.intervals));
  CHECK(MemoryChecker(graph, role, laid.shared, laid.plan, laid.memory).run() == "");
  return laid;
}

ir::ValueId param(ir::Graph& graph, std::uint32_t i) {
  return graph.add_input(square, ir::Port::param, i, "p" + std::to_string(i));
}
ir::ValueId state(ir::Graph& graph, std::uint32_t i) {
  return graph.add_input(square, ir::Port::state, i, "s" + std::to_string(i));
}
ir::ValueId gradient(ir::Graph& graph, std::uint32_t i) {
  return graph.add_input(square, ir::Port::gradient, i, "g" + std::to_string(i));
}

}  // namespace

TEST_CASE("can_overwrite: only operands that are read where results are written", "[unit][codegen]") {
  ir::Graph graph;
  const auto a = param(graph, 0), b = param(graph, 1);
  add_fused(graph, {a, b}, 2, Region::flat);
  add_fused(graph, {a, b}, 1, Region::transposing);
  add_fused(graph, {a, b}, 1, Region::row);
  CHECK(can_overwrite(graph.nodes()[0], 0, 1));
  CHECK(can_overwrite(graph.nodes()[0], 1, 0));
  CHECK_FALSE(can_overwrite(graph.nodes()[1], 0, 0));
  CHECK(can_overwrite(graph.nodes()[1], 1, 0));
  CHECK_FALSE(can_overwrite(graph.nodes()[2], 0, 0));
  CHECK(can_overwrite(graph.nodes()[2], 1, 0));
}

TEST_CASE("can_overwrite: not when a result has another size", "[unit][codegen]") {
  auto region = std::make_shared<ir::Graph>();
  ir::Builder builder(*region);
  const auto x = region->add_input({DType::f32, {1, 4}}, ir::Port::plain, 0, "x");
  region->add_output(builder.unary(ir::Op::neg, x), ir::Port::plain, 0, "y");
  region->add_output(builder.constant({DType::f32, {8}}, 1), ir::Port::plain, 1, "z");
  ir::Graph graph;
  const auto operand = graph.add_input({DType::f32, {1, 4}}, ir::Port::param, 0, "p");
  ir::Attrs attrs;
  attrs.text = "elementwise";
  graph.add_node(ir::Op::fused, {operand}, {{DType::f32, {1, 4}}, {DType::f32, {8}}}, attrs, {}, region);
  CHECK_FALSE(can_overwrite(graph.nodes()[0], 0, 0));
}

TEST_CASE("plan_memory: an element-wise chain runs in one buffer", "[unit][codegen]") {
  ir::Graph graph;
  const auto p = param(graph, 0);
  auto x = add_fused(graph, {p}, 1)[0];
  const auto first = x;
  for (int i = 0; i < 3; ++i) x = add_fused(graph, {x}, 1)[0];
  const auto last = x;
  graph.add_output(add_fused(graph, {last}, 1)[0], ir::Port::param, 1, "p1");
  const auto laid = lay_out(graph, ProgramRole::update);
  CHECK(laid.memory.transient_bytes == 64);
  CHECK(laid.buffer(first).offset == laid.buffer(last).offset);
  CHECK(laid.memory.final_copies.empty());
}

TEST_CASE("plan_memory: no overwriting of an operand that is read in another order", "[unit][codegen]") {
  ir::Graph graph;
  const auto x = add_fused(graph, {param(graph, 0)}, 1)[0];
  const auto y = add_fused(graph, {x}, 1, Region::transposing)[0];
  graph.add_output(add_fused(graph, {y}, 1)[0], ir::Port::param, 1, "p1");
  const auto laid = lay_out(graph, ProgramRole::update);
  CHECK(laid.memory.transient_bytes == 128);
}

TEST_CASE("plan_memory: an optimizer writes parameters and states over the old ones", "[unit][codegen]") {
  ir::Graph graph;
  const auto p = param(graph, 0), s = state(graph, 0), g = gradient(graph, 0);
  const auto updated = add_fused(graph, {p, s, g}, 2);
  graph.add_output(updated[0], ir::Port::param, 0, "p0");
  graph.add_output(updated[1], ir::Port::state, 0, "s0");
  const auto laid = lay_out(graph, ProgramRole::update);
  CHECK(laid.memory.final_copies.empty());
  CHECK(laid.memory.transient_bytes == 0);
  CHECK(laid.memory.buffers[updated[0].value] == laid.memory.buffers[p.value]);
  CHECK(laid.memory.buffers[updated[1].value] == laid.memory.buffers[s.value]);
}

TEST_CASE("plan_memory: a parameter that is read later is replaced at the end", "[unit][codegen]") {
  ir::Graph graph;
  const auto p = param(graph, 0), s = state(graph, 0), g = gradient(graph, 0);
  const auto updated = add_fused(graph, {p, g}, 1)[0];
  const auto next = add_fused(graph, {s, p}, 1)[0];
  graph.add_output(updated, ir::Port::param, 0, "p0");
  graph.add_output(next, ir::Port::state, 0, "s0");
  const auto laid = lay_out(graph, ProgramRole::update);
  REQUIRE(laid.memory.final_copies.size() == 1);
  CHECK(laid.memory.final_copies[0].to == *laid.memory.buffers[p.value]);
  CHECK(laid.buffer(updated).arena == plan::Arena::transient);
  CHECK(laid.memory.buffers[next.value] == laid.memory.buffers[s.value]);
}

TEST_CASE("plan_memory: outputs that are inputs are copied, or left where they are", "[unit][codegen]") {
  ir::Graph graph;
  const auto p = param(graph, 0), s = state(graph, 0);
  graph.add_output(p, ir::Port::param, 0, "p0");
  graph.add_output(p, ir::Port::param, 1, "p1");
  graph.add_output(s, ir::Port::state, 0, "s0");
  const auto laid = lay_out(graph, ProgramRole::update);
  REQUIRE(laid.memory.final_copies.size() == 1);
  CHECK(laid.plan.buffers[laid.memory.final_copies[0].to.value].name == "p1");
}

TEST_CASE("plan_memory: two states may change places", "[unit][codegen]") {
  ir::Graph graph;
  const auto a = state(graph, 0), b = state(graph, 1);
  graph.add_output(b, ir::Port::state, 0, "s0");
  graph.add_output(a, ir::Port::state, 1, "s1");
  const auto laid = lay_out(graph, ProgramRole::update);
  REQUIRE(laid.memory.final_copies.size() == 2);
  CHECK(laid.memory.final_copies[0].stage);
}

TEST_CASE("plan_memory: one value for two outputs is copied once", "[unit][codegen]") {
  ir::Graph graph;
  const auto x = add_fused(graph, {gradient(graph, 0)}, 1)[0];
  graph.add_output(x, ir::Port::param, 0, "p0");
  graph.add_output(x, ir::Port::param, 1, "p1");
  const auto laid = lay_out(graph, ProgramRole::update);
  CHECK(laid.memory.final_copies.size() == 1);
}

TEST_CASE("plan_memory: a reshape has its operand's memory", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto x = add_fused(graph, {param(graph, 0)}, 1)[0];
  const auto flat = builder.reshape(builder.reshape(x, {16}), {4, 4});
  const auto y = add_fused(graph, {flat}, 1)[0];
  graph.add_output(builder.reshape(builder.reshape(y, {2, 8}), {4, 4}), ir::Port::param, 0, "p0");
  const auto laid = lay_out(graph, ProgramRole::update);
  CHECK(laid.memory.buffers[flat.value] == laid.memory.buffers[x.value]);
  CHECK(laid.buffer(y).name == "p0");
}

TEST_CASE("plan_memory: gradients are produced in their bucket, side by side in the order of the collective",
          "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto p0 = param(graph, 0), p1 = param(graph, 1);
  const auto g1 = add_fused(graph, {p1}, 1)[0];
  const auto g0 = add_fused(graph, {p0, p1}, 1)[0];
  const auto late = add_fused(graph, {p0}, 1)[0];
  const auto reduced = builder.all_reduce({g1, g0}, "dp", 0);
  const auto other = builder.all_reduce({late}, "dp", 1);
  graph.add_output(reduced[1], ir::Port::gradient, 0, "g0");
  graph.add_output(reduced[0], ir::Port::gradient, 1, "g1");
  graph.add_output(other[0], ir::Port::gradient, 2, "g2");
  const auto laid = lay_out(graph, ProgramRole::train);
  CHECK(laid.memory.transient_bytes == 0);
  CHECK(laid.buffer(g1).offset == 0);
  CHECK(laid.buffer(g0).offset == 64);
  CHECK(laid.buffer(g1).arena == plan::Arena::gradient);
  REQUIRE(laid.plan.collectives.size() == 2);
  CHECK(laid.plan.collectives[0].count == 32);
  CHECK(laid.plan.collectives[1].offset == 128);
  CHECK(laid.plan.collectives[0].name == "bucket 0 (p1, ...)");
  // The first bucket starts before the third gradient is computed.
  CHECK(laid.memory.reductions[0].start == time_of(ir::NodeId{1}) + 1);
  CHECK(laid.memory.reductions[1].start == time_of(ir::NodeId{2}) + 1);
}

TEST_CASE("plan_memory: one gradient of two parameters is copied into both places", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto g = add_fused(graph, {param(graph, 0)}, 1)[0];
  const auto reduced = builder.all_reduce({g, g}, "dp", 0);
  graph.add_output(reduced[0], ir::Port::gradient, 0, "g0");
  graph.add_output(reduced[1], ir::Port::gradient, 1, "g1");
  const auto laid = lay_out(graph, ProgramRole::train);
  CHECK(laid.buffer(g).arena == plan::Arena::transient);
}

TEST_CASE("plan_memory: a gradient that is read unreduced delays its bucket", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto g = add_fused(graph, {param(graph, 0)}, 1)[0];
  const auto h = add_fused(graph, {g}, 1)[0];
  const auto reduced = builder.all_reduce({g}, "dp", 0);
  const auto second = builder.all_reduce({h}, "dp", 1);
  graph.add_output(reduced[0], ir::Port::gradient, 0, "g0");
  graph.add_output(second[0], ir::Port::gradient, 1, "g1");
  const auto laid = lay_out(graph, ProgramRole::train);
  CHECK(laid.memory.reductions[0].start > time_of(ir::NodeId{1}));
  CHECK(laid.buffer(g).arena == plan::Arena::gradient);
}

TEST_CASE("plan_memory: accumulation adds into the bucket", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto fresh = add_fused(graph, {param(graph, 0)}, 1)[0];
  const auto old = gradient(graph, 0);
  const auto sum = add_fused(graph, {fresh, old}, 1)[0];
  graph.add_output(builder.all_reduce({sum}, "dp", 0)[0], ir::Port::gradient, 0, "g0");
  const auto laid = lay_out(graph, ProgramRole::train);
  CHECK(laid.memory.buffers[sum.value] == laid.memory.buffers[old.value]);
}

TEST_CASE("plan_memory: one data-parallel rank has buckets and no collectives", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto g = add_fused(graph, {param(graph, 0)}, 1)[0];
  graph.add_output(builder.all_reduce({g}, "dp", 0)[0], ir::Port::gradient, 0, "g0");
  const auto laid = lay_out(graph, ProgramRole::train, 1, 0, 1);
  CHECK(laid.plan.collectives.empty());
  CHECK(laid.buffer(g).arena == plan::Arena::gradient);
}

TEST_CASE("plan_memory: constants have an arena of their own", "[unit][codegen]") {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto c = builder.constant(square, 3);
  graph.add_output(c, ir::Port::param, 0, "p0");
  const auto laid = lay_out(graph, ProgramRole::update);
  CHECK(laid.buffer(c).arena == plan::Arena::constant);
  CHECK(laid.memory.final_copies.size() == 1);
}

namespace {

/// A random program: fused nodes of all kinds over the inputs and each other, reshapes, and outputs of any of them.
ir::Graph random_program(std::uint64_t seed, ProgramRole role) {
  const PhiloxStream random(seed, 2);
  std::uint64_t at = 0;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random.bits(at++) % n); };
  ir::Graph graph;
  ir::Builder builder(graph);
  std::vector<ir::ValueId> values = {param(graph, 0), param(graph, 1), gradient(graph, 0), gradient(graph, 1)};
  if (role == ProgramRole::update) {
    values.push_back(state(graph, 0));
    values.push_back(state(graph, 1));
  }
  const auto any = [&] { return values[std::max(below(values.size()), below(values.size()))]; };
  for (int i = 0; i < 12; ++i) {
    std::vector<ir::ValueId> operands;
    for (std::size_t j = 0; j <= below(3); ++j) operands.push_back(any());
    if (below(4) == 0) operands[0] = builder.reshape(builder.reshape(operands[0], {16}), {4, 4});
    const auto kind = std::vector{Region::flat, Region::flat, Region::transposing, Region::row}[below(4)];
    for (const auto result : add_fused(graph, operands, 1 + static_cast<int>(below(2)), kind)) values.push_back(result);
  }
  if (role == ProgramRole::update) {
    for (std::uint32_t i = 0; i < 2; ++i) graph.add_output(any(), ir::Port::param, i, "p" + std::to_string(i));
    for (std::uint32_t i = 0; i < 2; ++i) graph.add_output(any(), ir::Port::state, i, "s" + std::to_string(i));
    return graph;
  }
  // Reduced are computed values only: autodiff and accumulation always compute them.
  const auto computed = [&] { return values[4 + below(values.size() - 4)]; };
  const auto first = builder.all_reduce({computed()}, "dp", 0);
  const auto second = builder.all_reduce({computed()}, "dp", 1);
  graph.add_output(first[0], ir::Port::gradient, 1, "g1");
  graph.add_output(second[0], ir::Port::gradient, 0, "g0");
  return graph;
}

}  // namespace

TEST_CASE("plan_memory: random programs read what they mean", "[unit][codegen]") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    INFO("seed " << seed);
    lay_out(random_program(seed, ProgramRole::update), ProgramRole::update);
    lay_out(random_program(seed, ProgramRole::train), ProgramRole::train);
  }
}
