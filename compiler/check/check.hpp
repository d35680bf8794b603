#pragma once

#include <functional>
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
  std::optional<std::string> value;  ///< as text, from --bind, the site profile or the default; none = unbound
  source::Range range;
};

/// A value from a site profile, and where it stands there: "site.toml:5".
struct SiteValue {
  std::string text;
  std::string place;
};

struct Value;

struct CheckOptions {
  std::map<std::string, std::string> bindings;   ///< name (without brackets) -> text
  std::map<std::string, SiteValue> site_values;  ///< the same from a site profile; `bindings` come first
  std::vector<std::string> import_folders;       ///< that imports may read beside the folder of the job file
  std::optional<std::string> job;               ///< which job of the file; none = the only one
  std::function<void(source::Range, const Value&)> on_value;  ///< sees every expression that is evaluated
};

/// A job that makes sense. With unbound placeholders the text fields of `spec` hold "<name>" and it cannot run.
struct CheckedJob {
  JobSpec spec;
  std::vector<PlaceholderInfo> placeholders;  ///< without those that have no value and that nothing of the job uses
  /// Settings that are right and that this edition does not carry out: the job cannot run.
  std::vector<std::string> limits;
  bool has_plan = true;  ///< false: a limit would make the plan wrong about memory or numbers
  std::vector<ParamInfo> params;
  std::vector<StateInfo> states;
  std::vector<BufferInfo> buffers;
  Trace train_objective;  ///< inputs: params, train batch fields, buffers, sample; outputs: metrics, buffers
  std::optional<Trace> eval_objective;
  Trace update;  ///< inputs: params, states, gradients, step; outputs: params, states, learning_rate, gradient_norm
};

/// Checks a file and elaborates its job. All mistakes go to the sink; none = it could not be elaborated, or the file
/// holds no job. `--bind` names that neither the file nor its imports declare are errors. `placeholders`, if given, gets
/// those of the job whether it could be elaborated or not.
std::optional<CheckedJob> check(const ast::File& file, source::SourceManager& sources, const CheckOptions& options,
                                diag::Sink& sink, std::vector<PlaceholderInfo>* placeholders = nullptr);

}  // namespace dtj::check
