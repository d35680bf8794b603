#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/value.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::check {

class ImportFiles;

/// A job of an inheritance line and the scope of its file.
struct JobLevel {
  const ast::JobDecl* job;
  std::shared_ptr<Scope> file_scope;
};

/// Evaluates the compile-time part of a program and, inside a trace, records its tensor operations. Every mistake is
/// reported once; its value is Poison.
class Evaluator {
 public:
  /// `bound` has the values of placeholders, already parsed and typed (see placeholders.hpp); the rest is Unbound.
  /// `imports` holds the files that the job file imports; without it they are read on the way.
  Evaluator(source::SourceManager& sources, diag::Sink& sink, std::map<std::string, Value> bound,
            const ImportFiles* imports = nullptr);
  ~Evaluator();

  /// Called with every expression that is evaluated and its value; tools show them. Gives the earlier observer back.
  std::function<void(source::Range, const Value&)> observe(std::function<void(source::Range, const Value&)> on_value);

  /// Declares the file's names (imports of the standard library included) on top of the prelude.
  std::shared_ptr<Scope> declare(const ast::File& file);

  /// The job's own constants and functions, on top of the file's names.
  std::shared_ptr<Scope> declare_job(const ast::JobDecl& job, const std::shared_ptr<Scope>& scope);

  /// The same for a job and those that it extends, the most derived first. Inherited settings see the names of an heir.
  std::vector<std::shared_ptr<Scope>> declare_jobs(const std::vector<JobLevel>& levels);

  /// The scope of a file that has been declared.
  std::shared_ptr<Scope> scope_of(const ast::File& file) const;

  Value evaluate(const ast::Expr& expr, const std::shared_ptr<Scope>& scope);

  /// The placeholders that some evaluated expression names.
  std::set<std::string>& used_placeholders();
  const std::set<std::string>& used_placeholders() const;

  /// Gives unbound placeholders these values instead of those of the last call.
  void rebind(std::map<std::string, Value> values);
  /// Reports go to `sink` from now on; gives back where they went.
  diag::Sink* exchange_sink(diag::Sink* sink);

  /// The learning rate of a scaling rule, and the batch by which a schedule's samples and tokens become steps.
  void set_rate(double scale, const std::optional<DataSpec>& batch);

  /// A secret may stand only where its value goes nowhere: in a condition.
  Value evaluate_condition(const ast::Expr& expr, const std::shared_ptr<Scope>& scope);

  /// `model = Gpt(...)`: instantiates and allocates the parameters, with their roles bound to `precision`.
  /// Parameters are numbered in declaration order, depth first.
  void set_precision(const PrecisionSpec& precision);
  const std::vector<ParamInfo>& params() const;
  const std::vector<BufferInfo>& buffers() const;
  /// The number of ranks that share a batch: what `num_ranks()` gives.
  void set_num_ranks(std::int64_t num_ranks);
  /// One flag per parameter; before `trace_update`.
  void freeze(const std::vector<bool>& is_frozen);

  /// Whether the range lies in the standard library.
  bool is_library(source::Range range) const;

  /// Calls the job's `fn objective(m, batch)` on the model and a batch of `micro_batch` samples of `fields`.
  /// The result must be a record of f32 scalars whose first field is `loss`; its names are given back in `metrics`.
  Trace trace_objective(const ast::FnDecl& objective, const Value& model, const std::vector<FieldSpec>& fields,
                        std::int64_t micro_batch, bool training, const std::shared_ptr<Scope>& scope,
                        std::vector<std::string>& metrics);

  /// gradient norm, optional clipping, then `optimizer.update` for each parameter. The optimizer is an instance of
  /// a module marked `@optimizer`; its `lr` is a number or a module with `forward(step: f64[]) -> f64[]`.
  /// With a weight metric (JobSpec::weight_metric) the gradients that arrive are divided by it first.
  Trace trace_update(const Value& optimizer, const ClipPolicy& clip, std::optional<std::uint32_t> weight_metric,
                     std::vector<StateInfo>& states);

  /// Module-level check of every module of the file with symbolic dims, where its parameters allow it.
  void check_modules(const ast::File& file, const std::shared_ptr<Scope>& scope);

  diag::Sink& sink();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dtj::check
