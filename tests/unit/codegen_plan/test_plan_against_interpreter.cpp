#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "compiler/compile.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/codegen_plan/jobs.hpp"
#include "tests/unit/codegen_plan/plan_runner.hpp"

// The whole compiler and the real executor against the interpreter: every program of a plan must leave in its output
// buffers what its graph means.

using namespace dtj;
using namespace dtj::test;

namespace {

Compiled compile_job(const std::string& text) {
  CompileRequest request;
  request.path = "test.dtj";
  request.text = text;
  auto compiled = compile(request);
  if (!compiled) FAIL(compiled.error().to_string());
  if (!compiled->plan) FAIL(diag::render_text(compiled->sink.sorted(), *compiled->sources, {}));
  return std::move(*compiled);
}

/// The largest difference, relative to the largest element.
double difference(const Tensor& found, const Tensor& expected) {
  REQUIRE(found.values.size() == expected.values.size());
  double scale = 1e-3, worst = 0;
  for (const double value : expected.values) scale = std::max(scale, std::fabs(value));
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double distance = std::fabs(found.values[i] - expected.values[i]);
    worst = std::isnan(distance) ? HUGE_VAL : std::max(worst, distance);
  }
  return worst / scale;
}

void fill_batch(PlanRunner& runner, const DataSpec& data, std::uint64_t seed, bool evaluates = false) {
  for (std::uint32_t i = 0; i < data.fields.size(); ++i) {
    const auto& field = data.fields[i];
    Shape shape = field.sample_shape;
    shape.insert(shape.begin(), data.micro_batch);
    const double high = static_cast<double>(std::max(data.source.vocab, data.source.num_classes)) - 1;
    auto tensor = is_integer(field.dtype) ? random_tensor({field.dtype, shape}, seed + i, 0, high)
                                          : random_tensor({field.dtype, shape}, seed + i);
    // Some targets are padding.
    if (field.is_target) tensor.values[0] = -1;
    runner.write(runner.ports().at(ir::Port::batch, i, evaluates), tensor);
  }
}

void fill_tensors(PlanRunner& runner, const plan::ExecutionPlan& plan) {
  std::uint64_t seed = 100;
  for (const auto& tensor : plan.tensors) {
    const auto& buffer = plan.buffers[tensor.buffer.value];
    // Second moments are not negative.
    const bool is_param = buffer.cls == plan::BufferClass::param;
    runner.write(tensor.buffer, random_tensor({buffer.dtype, buffer.shape}, ++seed, is_param ? -0.5 : 0.0, 0.5));
  }
}

struct Step {
  const ir::Graph* graph;
  const plan::Program* program;
};

void run_and_compare(PlanRunner& runner, const Step& step, double tolerance, bool evaluates = false) {
  const auto inputs = runner.read_inputs(*step.graph, evaluates);
  const auto expected = interpret(*step.graph, inputs, {Numerics::as_typed, 1});
  runner.run(*step.program);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& output = step.graph->outputs()[i];
    INFO("program " << step.program->name << ", output " << output.name);
    CHECK(difference(runner.read_output(output, evaluates), expected[i]) < tolerance);
  }
  // Inputs that are no outputs stay as they were.
  const auto after = runner.read_inputs(*step.graph, evaluates);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& input = step.graph->inputs()[i];
    const bool is_output =
        std::any_of(step.graph->outputs().begin(), step.graph->outputs().end(),
                    [&](const ir::Output& output) { return output.port == input.port && output.index == input.index; });
    INFO("program " << step.program->name << ", input " << input.name);
    if (!is_output) CHECK(after[i].values == inputs[i].values);
  }
}

std::vector<Step> training_steps(const Compiled& compiled) {
  const auto& graphs = compiled.graphs;
  const auto& plan = *compiled.plan;
  if (graphs.micro_only) return {{&*graphs.micro_only, &plan.micro_only}, {&*graphs.update, &plan.update}};
  return {{&*graphs.micro_first, &plan.micro_first},
          {&*graphs.micro_middle, &plan.micro_middle},
          {&*graphs.micro_last, &plan.micro_last},
          {&*graphs.update, &plan.update}};
}

void compare_job(const std::string& text, double tolerance) {
  const auto compiled = compile_job(text);
  const auto& plan = *compiled.plan;
  PlanRunner runner(plan, comm::make_self_communicator());
  fill_tensors(runner, plan);
  std::uint64_t seed = 1000;
  for (int number = 0; number < 2; ++number) {
    runner.write(*plan.ports.step, {{DType::f64, {}}, {static_cast<double>(number)}});
    for (const auto& step : training_steps(compiled)) {
      fill_batch(runner, plan.job.train_data, seed += 10);
      run_and_compare(runner, step, tolerance);
    }
  }
  if (!compiled.graphs.evaluate) return;
  fill_batch(runner, *plan.job.eval_data, 77, true);
  run_and_compare(runner, {&*compiled.graphs.evaluate, &plan.evaluate}, tolerance, true);
}

}  // namespace

TEST_CASE("plan: an MLP trains and evaluates as its graphs say", "[e2e][codegen]") {
  compare_job(mlp_job({}), 1e-5);
}

TEST_CASE("plan: an MLP with gradient accumulation", "[e2e][codegen]") {
  compare_job(mlp_job({.accumulation = 3}), 1e-5);
}

TEST_CASE("plan: a transformer block trains as its graphs say", "[e2e][codegen]") {
  compare_job(gpt_job({}), 2e-5);
}

TEST_CASE("plan: a transformer block with gradient accumulation", "[e2e][codegen]") {
  compare_job(gpt_job({.accumulation = 2}), 2e-5);
}

TEST_CASE("plan: a transformer block in bf16", "[e2e][codegen]") {
  compare_job(gpt_job({.compute = "bf16"}), 3e-2);
}

TEST_CASE("plan: two ranks get the sum of both gradients", "[e2e][codegen]") {
  const auto compiled = compile_job(gpt_job({.ranks = 2}));
  const auto& plan = *compiled.plan;
  const auto& graph = *compiled.graphs.micro_only;
  REQUIRE_FALSE(plan.collectives.empty());
  auto communicators = value_or_throw(comm::make_local_communicators(2, std::chrono::seconds(30)));

  std::vector<std::vector<Tensor>> alone(2), together(2);
  std::vector<std::thread> ranks;
  std::vector<std::string> failures(2);
  for (std::size_t rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      try {
        PlanRunner runner(plan, std::move(communicators[rank]), 1);
        fill_tensors(runner, plan);
        fill_batch(runner, plan.job.train_data, 500 + 10 * rank);
        alone[rank] = interpret(graph, runner.read_inputs(graph), {Numerics::as_typed, 1});
        runner.run(plan.micro_only);
        for (const auto& output : graph.outputs()) together[rank].push_back(runner.read_output(output));
      } catch (const std::exception& error) {
        failures[rank] = error.what();
      }
    });
  for (auto& rank : ranks) rank.join();
  CHECK(failures == std::vector<std::string>(2));
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    INFO("output " << graph.outputs()[i].name);
    Tensor sum = alone[0].at(i);
    for (std::size_t j = 0; j < sum.values.size(); ++j) sum.values[j] += alone[1].at(i).values[j];
    CHECK(difference(together[0].at(i), sum) < 2e-5);
    CHECK(together[0].at(i).values == together[1].at(i).values);
  }
}
