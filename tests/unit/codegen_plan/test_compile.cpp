#include "compiler/compile.hpp"

#include <algorithm>

#include "engine/plan/serialize.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/codegen_plan/jobs.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

CompileRequest request_for(std::string text) {
  CompileRequest request;
  request.path = "test.dtj";
  request.text = std::move(text);
  return request;
}

Compiled compile_plan(const JobSettings& settings) {
  auto compiled = compile(request_for(gpt_job(settings)));
  if (!compiled) FAIL(compiled.error().to_string());
  if (!compiled->plan) FAIL(diag::render_text(compiled->sink.sorted(), *compiled->sources, {}));
  return std::move(*compiled);
}

template <class StepKind>
std::vector<std::size_t> positions(const plan::Program& program) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (std::holds_alternative<StepKind>(program.steps[i].what)) found.push_back(i);
  return found;
}

}  // namespace

TEST_CASE("compile: stops after the stage that was asked for", "[unit][compile]") {
  auto request = request_for(mlp_job({}));
  request.until = CompileStage::check;
  const auto checked = compile(request);
  REQUIRE(checked);
  CHECK(checked->job);
  CHECK_FALSE(checked->graphs.update);
  request.until = CompileStage::lower;
  const auto lowered = compile(request);
  REQUIRE(lowered);
  CHECK(lowered->graphs.micro_only);
  CHECK(lowered->graphs.evaluate);
  CHECK_FALSE(lowered->plan);
}

TEST_CASE("compile: mistakes are diagnostics, not errors", "[unit][compile]") {
  const auto compiled = compile(request_for("dtj 1;\njob broken { nodes = }\n"));
  REQUIRE(compiled);
  CHECK(compiled->sink.has_errors());
  CHECK_FALSE(compiled->plan);
}

TEST_CASE("compile: a file that is not there is a diagnostic", "[unit][compile]") {
  CompileRequest request;
  request.path = "no/such/job.dtj";
  const auto compiled = compile(request);
  REQUIRE(compiled);
  REQUIRE(compiled->sink.num_errors() == 1);
  CHECK(compiled->sink.sorted()[0].kind == diag::Kind::cannot_read_file);
}

TEST_CASE("compile: prints the graph after a pass, and stops there", "[unit][compile]") {
  auto request = request_for(mlp_job({}));
  request.print_after = "autodiff";
  request.stop_after = "autodiff";
  std::vector<std::string> printed;
  request.on_print = [&](const std::string& pass, const std::string& text) {
    CHECK(pass == "autodiff");
    printed.push_back(text);
  };
  const auto compiled = compile(request);
  REQUIRE(compiled);
  CHECK_FALSE(compiled->plan);
  REQUIRE(printed.size() == 1);
  CHECK(ir::parse(printed[0]));
}

TEST_CASE("compile: an unknown pass name is an invalid argument", "[unit][compile]") {
  auto request = request_for(mlp_job({}));
  request.print_after = "no_such_pass";
  const auto compiled = compile(request);
  REQUIRE_FALSE(compiled);
  CHECK(compiled.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("emit_plan: one data-parallel rank has no collective steps", "[unit][codegen]") {
  const auto compiled = compile_plan({});
  const auto& plan = *compiled.plan;
  CHECK(plan.collectives.empty());
  CHECK(positions<plan::CollectiveStartStep>(plan.micro_only).empty());
  CHECK(plan.micro_first.steps.empty());
  CHECK_FALSE(plan.update.steps.empty());
}

TEST_CASE("emit_plan: collectives start inside of backward and are waited for at the end", "[unit][codegen]") {
  const auto compiled = compile_plan({.ranks = 2, .accumulation = 2});
  const auto& plan = *compiled.plan;
  CHECK(positions<plan::CollectiveStartStep>(plan.micro_first).empty());
  CHECK(positions<plan::CollectiveStartStep>(plan.micro_middle).empty());
  const auto starts = positions<plan::CollectiveStartStep>(plan.micro_last);
  const auto waits = positions<plan::CollectiveWaitStep>(plan.micro_last);
  REQUIRE(starts.size() == plan.collectives.size());
  REQUIRE(waits.size() == starts.size());
  CHECK(*std::max_element(starts.begin(), starts.end()) < *std::min_element(waits.begin(), waits.end()));
  CHECK(waits.back() == plan.micro_last.steps.size() - 1);
  CHECK(starts.front() < waits.front() - starts.size());  // something is computed after the first start
}

TEST_CASE("emit_plan: every gradient and metric lies in one collective", "[unit][codegen]") {
  const auto compiled = compile_plan({.ranks = 2});
  const auto& plan = *compiled.plan;
  for (const auto& buffer : plan.buffers) {
    const bool is_reduced = buffer.cls == plan::BufferClass::gradient || buffer.name == "metric.loss";
    if (!is_reduced || buffer.arena != plan::Arena::gradient) continue;
    const auto covering = std::count_if(plan.collectives.begin(), plan.collectives.end(), [&](const auto& collective) {
      return collective.offset <= buffer.offset &&
             buffer.offset + buffer.size <= collective.offset + 4 * collective.count;
    });
    INFO(buffer.name);
    CHECK(covering == 1);
  }
}

TEST_CASE("emit_plan: the optimizer updates in place, without copies", "[unit][codegen]") {
  const auto compiled = compile_plan({});
  CHECK(positions<plan::CopyStep>(compiled.plan->update).empty());
  CHECK(positions<plan::CopyStep>(compiled.plan->micro_only).empty());
}

TEST_CASE("emit_plan: steps name their line of the job or of the library", "[unit][codegen]") {
  const auto compiled = compile_plan({});
  std::size_t located = 0, in_job = 0;
  for (const auto& step : compiled.plan->micro_only.steps) {
    CHECK_FALSE(step.label.empty());
    if (step.source.line > 0) ++located;
    if (step.source.file == "test.dtj") ++in_job;
  }
  CHECK(located > compiled.plan->micro_only.steps.size() / 2);
  CHECK(in_job > 0);
}

TEST_CASE("emit_plan: the same job gives the same plan, and another one another hash", "[unit][codegen]") {
  const auto first = compile_plan({}), second = compile_plan({}), other = compile_plan({.accumulation = 2});
  CHECK(first.plan->hash == second.plan->hash);
  CHECK(first.plan->hash == plan::compute_hash(*first.plan));
  CHECK(first.plan->hash != other.plan->hash);
}
