#include "compiler/check/evaluator.hpp"

#include <utility>

#include "compiler/check/interpreter.hpp"

namespace dtj::check {

struct Evaluator::Impl {
  Interpreter interpreter;
};

Evaluator::Evaluator(source::SourceManager& sources, diag::Sink& sink, std::map<std::string, Value> bound,
                     const ImportFiles* imports)
    : impl_(new Impl{{sources, sink, std::move(bound), imports}}) {}

Evaluator::~Evaluator() = default;

std::function<void(source::Range, const Value&)> Evaluator::observe(
    std::function<void(source::Range, const Value&)> on_value) {
  return std::exchange(impl_->interpreter.on_value, std::move(on_value));
}

std::shared_ptr<Scope> Evaluator::declare(const ast::File& file) {
  return impl_->interpreter.declare(file);
}

std::shared_ptr<Scope> Evaluator::declare_job(const ast::JobDecl& job, const std::shared_ptr<Scope>& scope) {
  return impl_->interpreter.declare_job(job, scope);
}

std::vector<std::shared_ptr<Scope>> Evaluator::declare_jobs(const std::vector<JobLevel>& levels) {
  return impl_->interpreter.declare_jobs(levels);
}

std::shared_ptr<Scope> Evaluator::scope_of(const ast::File& file) const {
  return impl_->interpreter.scope_of(file);
}

std::set<std::string>& Evaluator::used_placeholders() {
  return impl_->interpreter.used_placeholders;
}

const std::set<std::string>& Evaluator::used_placeholders() const {
  return impl_->interpreter.used_placeholders;
}

void Evaluator::rebind(std::map<std::string, Value> values) {
  impl_->interpreter.rebind(std::move(values));
}

diag::Sink* Evaluator::exchange_sink(diag::Sink* sink) {
  return std::exchange(impl_->interpreter.sink, sink);
}

void Evaluator::set_rate(double scale, const std::optional<DataSpec>& batch) {
  impl_->interpreter.lr_scale = scale;
  impl_->interpreter.schedule_batch = batch;
}

Value Evaluator::evaluate_condition(const ast::Expr& expr, const std::shared_ptr<Scope>& scope) {
  Interpreter& in = impl_->interpreter;
  in.allows_secrets = true;
  Value value = in.evaluate(expr, scope);
  in.allows_secrets = false;
  return value;
}

Value Evaluator::evaluate(const ast::Expr& expr, const std::shared_ptr<Scope>& scope) {
  return impl_->interpreter.evaluate(expr, scope);
}

void Evaluator::set_precision(const PrecisionSpec& precision) {
  impl_->interpreter.precision = precision;
}

const std::vector<ParamInfo>& Evaluator::params() const {
  return impl_->interpreter.params;
}

const std::vector<BufferInfo>& Evaluator::buffers() const {
  return impl_->interpreter.buffers;
}

void Evaluator::set_num_ranks(std::int64_t num_ranks) {
  impl_->interpreter.num_ranks = num_ranks;
}

void Evaluator::freeze(const std::vector<bool>& is_frozen) {
  auto& params = impl_->interpreter.params;
  for (std::size_t i = 0; i < params.size(); ++i) params[i].is_frozen = is_frozen.at(i);
}

bool Evaluator::is_library(source::Range range) const {
  return impl_->interpreter.is_library(range);
}

Trace Evaluator::trace_objective(const ast::FnDecl& objective, const Value& model, const std::vector<FieldSpec>& fields,
                                 std::int64_t micro_batch, bool training, const std::shared_ptr<Scope>& scope,
                                 std::vector<std::string>& metrics) {
  return impl_->interpreter.trace_objective(objective, model, fields, micro_batch, training, scope, metrics);
}

Trace Evaluator::trace_update(const Value& optimizer, const ClipPolicy& clip,
                              std::optional<std::uint32_t> weight_metric, std::vector<StateInfo>& states) {
  return impl_->interpreter.trace_update(optimizer, clip, weight_metric, states);
}

void Evaluator::check_modules(const ast::File& file, const std::shared_ptr<Scope>& scope) {
  impl_->interpreter.check_modules(file, scope);
}

diag::Sink& Evaluator::sink() {
  return *impl_->interpreter.sink;
}

}  // namespace dtj::check
