#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/trace.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "engine/base/job_spec.hpp"

namespace dtj::check {

/// A placeholder of the job and what became of it.
struct PlaceholderInfo {
  std::string name;
  std::string type;  ///< "path.dir", "int", ...
  std::string help;
  std::optional<std::string> value;  ///< as text, from --bind or the default; none = unbound
  source::Range range;
};

struct CheckOptions {
  std::map<std::string, std::string> bindings;  ///< name (without brackets) -> text
  std::optional<std::string> job;               ///< which job of the file; none = the only one
};

/// A job that makes sense. With unbound placeholders the text fields of `spec` hold "<name>" and it cannot run.
struct CheckedJob {
  JobSpec spec;
  std::vector<PlaceholderInfo> placeholders;
  std::vector<ParamInfo> params;
  std::vector<StateInfo> states;
  std::vector<BufferInfo> buffers;
  Trace train_objective;  ///< inputs: params, train batch fields, buffers, sample; outputs: metrics, buffers
  std::optional<Trace> eval_objective;
  Trace update;  ///< inputs: params, states, gradients, step; outputs: params, states, learning_rate, gradient_norm
};

/// Checks a file and elaborates its job. All mistakes go to the sink; none = it could not be elaborated, or the file
/// holds no job. `--bind` names that the file does not declare are errors.
std::optional<CheckedJob> check(const ast::File& file, source::SourceManager& sources, const CheckOptions& options,
                                diag::Sink& sink);

}  // namespace dtj::check
