#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/check.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/source/source.hpp"
#include "engine/base/result.hpp"
#include "engine/plan/plan.hpp"

// Front door of the compiler: a job file goes through parse, check, lower and plan.

namespace dtj {

enum class CompileStage : std::uint8_t { check, lower, plan };

struct CompileRequest {
  std::string path;                 ///< of the job file; its name in messages when `text` is given
  std::optional<std::string> text;  ///< none = read `path`
  check::CheckOptions check;
  std::string site_profile;  ///< "" = none
  std::string site;          ///< one of the profile's sites; "" = its default
  CompileStage until = CompileStage::plan;
  std::string print_after;  ///< "" = nothing, "all", "lower", or the name of a pass: the IR goes to `on_print`
  std::string stop_after;   ///< "lower" or the name of a pass; no plan is made then
  std::function<void(const std::string& stage, const std::string& text)> on_print;
  int num_threads = 2;  ///< for kernels
};

/// The graphs of a job's programs after their passes, as far as they were made.
struct CompiledGraphs {
  std::optional<ir::Graph> micro_only, micro_first, micro_middle, micro_last;
  std::optional<ir::Graph> update;
  std::optional<ir::Graph> evaluate;
};

/// Everything known after the last stage that was reached. With errors in `sink` the later parts are missing.
struct Compiled {
  std::unique_ptr<source::SourceManager> sources;
  diag::Sink sink;
  std::unique_ptr<ast::File> file;
  std::optional<check::CheckedJob> job;
  std::vector<check::PlaceholderInfo> placeholders;  ///< of the job, also when it could not be elaborated
  CompiledGraphs graphs;
  std::optional<plan::ExecutionPlan> plan;
};

/// Mistakes in the job (an unreadable file too) are in `Compiled::sink`. Unbound placeholders of text do not prevent a
/// plan; it cannot run. Errors: invalid_argument (no pass is called `print_after` or `stop_after`), unimplemented (an
/// op that the device lacks), internal.
Result<Compiled> compile(const CompileRequest& request);

}  // namespace dtj
