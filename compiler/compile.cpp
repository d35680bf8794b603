#include "compiler/compile.hpp"

#include <algorithm>
#include <utility>

#include "compiler/codegen/emit_plan.hpp"
#include "compiler/lower/lower.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/passes/passes.hpp"
#include "compiler/site/site.hpp"

namespace dtj {
namespace {

Status check_pass_name(const std::string& name, bool allow_all) {
  const auto names = passes::pass_names();
  const bool is_known = name.empty() || name == "lower" || (allow_all && name == "all") ||
                        std::find(names.begin(), names.end(), name) != names.end();
  if (is_known) return {};
  return fail(ErrorCode::invalid_argument, "there is no pass `" + name + "`");
}

std::optional<source::FileId> load(const CompileRequest& request, Compiled& compiled) {
  if (request.text) return compiled.sources->add(request.path, *request.text);
  auto file = compiled.sources->load(request.path);
  if (file) return *file;
  compiled.sink.report({diag::Kind::cannot_read_file, {}, file.error().to_string()});
  return std::nullopt;
}

check::CheckOptions with_site_values(const CompileRequest& request, Compiled& compiled) {
  check::CheckOptions options = request.check;
  if (request.site_profile.empty()) return options;
  const auto profile = site::read_profile(request.site_profile, request.site, *compiled.sources, compiled.sink);
  if (!profile) return options;
  site::warn_of_tracked_profile(*profile, compiled.sink);
  for (const auto& [name, value] : profile->bind) options.site_values[name] = {value.text, value.place};
  return options;
}

void print_lowered(const CompileRequest& request, const lower::LoweredJob& lowered) {
  if (!request.on_print || (request.print_after != "all" && request.print_after != "lower")) return;
  request.on_print("lower", ir::print(lowered.objective));
  if (lowered.eval_objective) request.on_print("lower", ir::print(*lowered.eval_objective));
  request.on_print("lower", ir::print(lowered.update));
}

/// One program: a copy of the lowered graph, through the passes of its pipeline.
Result<ir::Graph> run_passes(const CompileRequest& request, const ir::Graph& lowered, const char* name,
                             passes::Pipeline pipeline, const passes::PassContext& ctx) {
  ir::Graph graph = lowered;
  graph.name = name;
  passes::RunOptions options;
  options.print_after = request.print_after == "lower" ? "" : request.print_after;
  options.stop_after = request.stop_after;
  if (request.on_print)
    options.on_print = [&](std::string_view pass, const std::string& text) {
      request.on_print(std::string(pass), text);
    };
  DTJ_TRY(passes::run(graph, pipeline, ctx, options));
  return graph;
}

/// About eight buckets, so that most of the reduction overlaps with backward, but none so small that its start-up
/// counts.
std::int64_t choose_bucket_bytes(const std::vector<check::ParamInfo>& params) {
  std::int64_t elements = 0;
  for (const auto& param : params)
    if (!param.is_frozen) elements += num_elements(param.type.shape);
  const std::int64_t gradient_bytes = elements * static_cast<std::int64_t>(size_of(DType::f32));
  return std::clamp<std::int64_t>(gradient_bytes / 8, 256 << 10, 4 << 20);
}

Status make_programs(const CompileRequest& request, const lower::LoweredJob& lowered, const check::CheckedJob& job,
                     CompiledGraphs& graphs) {
  using passes::Pipeline;
  passes::PassContext ctx;
  ctx.dp = job.spec.mesh.dp;
  ctx.gradient_accumulation = job.spec.train_data.gradient_accumulation;
  ctx.weight_metric = job.spec.weight_metric();
  ctx.bucket_bytes = choose_bucket_bytes(job.params);
  for (const auto& param : job.params) ctx.is_frozen.push_back(param.is_frozen);
  const auto micro = [&](const char* name, bool accumulates, bool reduces) {
    ctx.accumulate_into = accumulates;
    ctx.reduce_gradients = reduces;
    return run_passes(request, lowered.objective, name, Pipeline::train_micro, ctx);
  };
  if (ctx.gradient_accumulation == 1) {
    DTJ_TRY_ASSIGN(graphs.micro_only, micro("micro_only", false, true));
  } else {
    DTJ_TRY_ASSIGN(graphs.micro_first, micro("micro_first", false, false));
    DTJ_TRY_ASSIGN(graphs.micro_middle, micro("micro_middle", true, false));
    DTJ_TRY_ASSIGN(graphs.micro_last, micro("micro_last", true, true));
  }
  DTJ_TRY_ASSIGN(graphs.update, run_passes(request, lowered.update, "update", Pipeline::update, {}));
  if (lowered.eval_objective) {
    DTJ_TRY_ASSIGN(graphs.evaluate, run_passes(request, *lowered.eval_objective, "evaluate", Pipeline::evaluate, {}));
  }
  return {};
}

codegen::PlanInput make_plan_input(const CompileRequest& request, const Compiled& compiled) {
  codegen::PlanInput input;
  input.job = compiled.job->spec;
  for (const auto& param : compiled.job->params)
    input.params.push_back({param.name, {param.type.dtype, param.type.shape}, param.init});
  for (const auto& state : compiled.job->states)
    input.states.push_back({state.name, {state.type.dtype, state.type.shape}, state.init});
  for (const auto& buffer : compiled.job->buffers)
    input.buffers.push_back({buffer.name, {buffer.type.dtype, buffer.type.shape}, buffer.init});
  const auto& graphs = compiled.graphs;
  input.micro_only = graphs.micro_only;
  input.micro_first = graphs.micro_first;
  input.micro_middle = graphs.micro_middle;
  input.micro_last = graphs.micro_last;
  input.update = *graphs.update;
  input.evaluate = graphs.evaluate;
  input.compile_threads = request.num_threads;
  input.locate = [&sources = *compiled.sources](source::Range range) {
    if (range.is_none) return plan::SourceLocation{};
    const auto& file = sources.file(range.file);
    const auto position = file.position(range.begin);
    return plan::SourceLocation{file.name(), position.line, position.column};
  };
  return input;
}

}  // namespace

Result<Compiled> compile(const CompileRequest& request) {
  DTJ_TRY(check_pass_name(request.print_after, true));
  DTJ_TRY(check_pass_name(request.stop_after, false));
  Compiled compiled;
  compiled.sources = std::make_unique<source::SourceManager>();

  // parse: is it well written?
  const auto file = load(request, compiled);
  if (!file) return compiled;
  compiled.file = parse::parse(compiled.sources->file(*file), compiled.sink);

  // check: does it make sense? Also after syntax errors, so that one run finds all mistakes.
  if (!compiled.file) return compiled;
  const check::CheckOptions options = with_site_values(request, compiled);
  compiled.job = check::check(*compiled.file, *compiled.sources, options, compiled.sink, &compiled.placeholders);
  if (!compiled.job || compiled.sink.has_errors() || request.until == CompileStage::check) return compiled;
  if (!compiled.job->has_plan) return compiled;

  // lower: what is computed?
  const auto lowered = lower::lower(*compiled.job);
  print_lowered(request, lowered);
  if (request.stop_after == "lower") return compiled;
  DTJ_TRY(make_programs(request, lowered, *compiled.job, compiled.graphs));
  if (request.until == CompileStage::lower || !request.stop_after.empty()) return compiled;

  // plan: who does what, when, where?
  DTJ_TRY_ASSIGN(compiled.plan, codegen::emit_plan(make_plan_input(request, compiled)));
  return compiled;
}

}  // namespace dtj
