#include "compiler/api/compilation.hpp"

#include <nlohmann/json.hpp>

#include "compiler/api/convert.hpp"
#include "engine/plan/print.hpp"
#include "engine/plan/serialize.hpp"

namespace dtj {

namespace {

CompileStage compile_stage(Compilation::Stage stage) {
  switch (stage) {
    case Compilation::Stage::check: return CompileStage::check;
    case Compilation::Stage::lower: return CompileStage::lower;
    case Compilation::Stage::plan: return CompileStage::plan;
  }
  return CompileStage::check;
}

DiagnosticInfo diagnostic_info(const diag::Diagnostic& diagnostic, const source::SourceManager& sources) {
  DiagnosticInfo info;
  info.code = std::string(diag::info(diagnostic.kind).code);
  info.severity = api::severity_of(diag::info(diagnostic.kind).severity);
  info.message = diagnostic.message;
  info.helps = diagnostic.helps;
  if (diagnostic.range.is_none) return info;
  const source::SourceFile& file = sources.file(diagnostic.range.file);
  const source::Position begin = file.position(diagnostic.range.begin);
  const source::Position end = file.position(diagnostic.range.end);
  info.file = file.name();
  info.line = begin.line;
  info.column = begin.column;
  info.end_line = end.line;
  info.end_column = end.column;
  return info;
}

/// A failure outside the job's text, in the form of a diagnostic.
DiagnosticInfo failure_info(const Error& error) {
  DiagnosticInfo info;
  info.code = std::string(to_string(error.code));
  info.message = error.to_string();
  return info;
}

bool has_reached(const Compiled& compiled, const CompileRequest& request) {
  if (compiled.sink.has_errors()) return false;
  switch (request.until) {
    case CompileStage::check: return true;  // a file without a job is a library, and fine
    case CompileStage::lower: return compiled.job.has_value();
    case CompileStage::plan: return compiled.plan.has_value();
  }
  return false;
}

}  // namespace

std::optional<std::string> Compilation::Impl::obstacle() const {
  for (const check::PlaceholderInfo& info : compiled.placeholders)
    if (!info.value) return fmt::format("the placeholder <{}> has no value", info.name);
  if (compiled.job && !compiled.job->limits.empty()) return "the job cannot run yet: " + compiled.job->limits.front();
  return std::nullopt;
}

Compilation::Compilation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Compilation::Compilation(Compilation&&) noexcept = default;
Compilation& Compilation::operator=(Compilation&&) noexcept = default;
Compilation::~Compilation() = default;

std::unique_ptr<Compilation::Impl> Compilation::compile(std::string path, std::optional<std::string> text, Stage until,
                                                        const CompileOptions& options) {
  CompileRequest request;
  request.path = std::move(path);
  request.text = std::move(text);
  request.check.bindings = options.bindings;
  if (!options.job.empty()) request.check.job = options.job;
  request.check.import_folders = options.import_dirs;
  request.site_profile = options.site_profile;
  request.site = options.site;
  request.until = compile_stage(until);
  request.print_after = options.print_after;
  request.stop_after = options.stop_after;
  if (options.on_print) {
    request.on_print = [&options](const std::string& stage, const std::string& ir) { options.on_print(stage, ir); };
  }
  request.num_threads = options.num_threads;

  auto impl = std::make_unique<Impl>();
  auto compiled = dtj::compile(request);
  if (!compiled) {
    impl->failure = compiled.error();
    impl->diagnostics.push_back(failure_info(compiled.error()));
    return impl;
  }
  impl->compiled = std::move(*compiled);
  impl->reached = has_reached(impl->compiled, request);
  impl->sorted = impl->compiled.sink.sorted();
  for (const diag::Diagnostic& diagnostic : impl->sorted) {
    impl->diagnostics.push_back(diagnostic_info(diagnostic, *impl->compiled.sources));
  }
  return impl;
}

Compilation Compilation::from_file(const std::string& path, Stage until, const CompileOptions& options) {
  return Compilation(compile(path, std::nullopt, until, options));
}

Compilation Compilation::from_text(std::string name, std::string text, Stage until, const CompileOptions& options) {
  return Compilation(compile(std::move(name), std::move(text), until, options));
}

bool Compilation::ok() const { return impl_->reached; }

bool Compilation::is_internal_error() const { return impl_->failure && impl_->failure->code == ErrorCode::internal; }

const std::vector<DiagnosticInfo>& Compilation::diagnostics() const { return impl_->diagnostics; }

std::string Compilation::render_text(bool colour) const {
  if (impl_->failure) return "error: " + impl_->failure->to_string() + "\n";
  diag::RenderOptions options;
  options.colour = colour;
  return diag::render_text(impl_->sorted, *impl_->compiled.sources, options);
}

std::string Compilation::render_json() const {
  if (impl_->failure) {
    const nlohmann::json row = {{"code", std::string(to_string(impl_->failure->code))},
                                {"severity", "error"},
                                {"message", impl_->failure->to_string()}};
    return row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return diag::render_json(impl_->sorted, *impl_->compiled.sources);
}

std::vector<PlaceholderState> Compilation::placeholders() const {
  std::vector<PlaceholderState> states;
  for (const check::PlaceholderInfo& info : impl_->compiled.placeholders) {
    states.push_back({info.name, info.type, info.help, info.value});
  }
  return states;
}

std::vector<std::string> Compilation::limits() const {
  return impl_->compiled.job ? impl_->compiled.job->limits : std::vector<std::string>();
}

std::string Compilation::plan_text() const { return impl_->plan() ? plan::summary_text(*impl_->plan()) : std::string(); }

std::string Compilation::plan_json() const { return impl_->plan() ? plan::summary_json(*impl_->plan()) : std::string(); }

std::string Compilation::job_name() const { return impl_->compiled.job ? impl_->compiled.job->spec.name : std::string(); }

std::int64_t Compilation::world_size() const {
  return impl_->compiled.job ? impl_->compiled.job->spec.launch.world_size() : 0;
}

std::optional<Failure> Compilation::save_plan(const std::string& path) const {
  if (!impl_->plan()) return Failure{"invalid_argument", "the job has no plan: compile it to Stage::plan without errors"};
  if (const auto obstacle = impl_->obstacle()) return Failure{"invalid_argument", "the plan would not run: " + *obstacle};
  const auto saved = plan::save_file(*impl_->plan(), path);
  if (saved) return std::nullopt;
  return Failure{std::string(to_string(saved.error().code)), saved.error().to_string()};
}

std::string_view version() { return DTJ_VERSION; }

}  // namespace dtj
