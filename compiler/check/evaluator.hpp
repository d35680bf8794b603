#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/value.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::check {

/// Evaluates the compile-time part of a program and, inside a trace, records its tensor operations. Every mistake is
/// reported once; its value is Poison.
class Evaluator {
 public:
  /// `bound` has the values of placeholders, already parsed and typed (see placeholders.hpp); the rest is Unbound.
  Evaluator(source::SourceManager& sources, diag::Sink& sink, std::map<std::string, Value> bound);
  ~Evaluator();

  /// Declares the file's names (imports of the standard library included) on top of the prelude.
  std::shared_ptr<Scope> declare(const ast::File& file);

  /// The job's own constants and functions, on top of the file's names.
  std::shared_ptr<Scope> declare_job(const ast::JobDecl& job, const std::shared_ptr<Scope>& scope);

  Value evaluate(const ast::Expr& expr, const std::shared_ptr<Scope>& scope);

  /// `model = Gpt(...)`: instantiates and allocates the parameters, with their roles bound to `precision`.
  /// Parameters are numbered in declaration order, depth first.
  void set_precision(const PrecisionSpec& precision);
  const std::vector<ParamInfo>& params() const;
  const std::vector<BufferInfo>& buffers() const;
  /// The number of ranks that share a batch: what `num_ranks()` gives.
  void set_num_ranks(std::int64_t num_ranks);

  /// Calls the job's `fn objective(m, batch)` on the model and a batch of `micro_batch` samples of `fields`.
  /// The result must be a record of f32 scalars whose first field is `loss`; its names are given back in `metrics`.
  Trace trace_objective(const ast::FnDecl& objective, const Value& model, const std::vector<FieldSpec>& fields,
                        std::int64_t micro_batch, bool training, const std::shared_ptr<Scope>& scope,
                        std::vector<std::string>& metrics);

  /// gradient norm, optional clipping by it, then `optimizer.update` for each parameter. The optimizer is an instance of
  /// a module marked `@optimizer`; its `lr` is a number or a module with `forward(step: f64[]) -> f64[]`.
  Trace trace_update(const Value& optimizer, std::optional<double> clip_norm, std::vector<StateInfo>& states);

  /// Module-level check of every module of the file with symbolic dims, where its parameters allow it.
  void check_modules(const ast::File& file, const std::shared_ptr<Scope>& scope);

  diag::Sink& sink();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dtj::check
