#include "compiler/check/job_draft.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/evaluator.hpp"
#include "compiler/check/sections_read.hpp"

// The sections train, eval and checkpoint, and the job as a whole.

namespace dtj::check {
namespace {

const std::vector<UnitKind> interval_units = {UnitKind::step, UnitKind::epoch, UnitKind::sample, UnitKind::tok, UnitKind::time};

Stated<Progress> progress_of(const Stated<Quantity>& quantity) { return {to_progress(quantity.value), quantity.range, quantity.presence}; }

std::optional<double> as_number(const Value& value) {
  if (const auto* real = value.as<double>()) return *real;
  if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  return std::nullopt;
}

const Record* as_record(const Value& value, std::string_view name) {
  const auto* record = value.as<std::shared_ptr<Record>>();
  return record != nullptr && (*record)->name == name ? record->get() : nullptr;
}

/// `norm(1.0)`: all gradients together; `value(0.5)`: each element.
void read_clip(const SectionValues& section, TrainDraft& draft, diag::Sink& sink) {
  const Entry* entry = section.find("grad_clip");
  if (entry == nullptr || entry->value.is_poison() || entry->value.is_unbound() || entry->value.as<None>() != nullptr) return;
  const Record* by_norm = as_record(entry->value, "norm");
  const Record* record = by_norm != nullptr ? by_norm : as_record(entry->value, "value");
  if (record == nullptr) {
    const auto number = as_number(entry->value);
    sink.report({diag::Kind::wrong_type, entry->value.range,
                 fmt::format("`grad_clip` takes `norm(...)` or `value(...)`, found {}", describe(entry->value))})
        .help(fmt::format("write `grad_clip = norm({})`", number && *number > 0 ? spell(*number) : "1.0"));
    return;
  }
  const Value* max = record->find("max");
  const auto number = max != nullptr ? as_number(*max) : std::nullopt;
  if (!number) return;
  if (*number > 0) {
    (by_norm != nullptr ? draft.grad_clip_norm : draft.grad_clip_value) = number;
    return;
  }
  sink.report({diag::Kind::out_of_range, entry->value.range, fmt::format("the {} to clip to must be above 0, found {}", record->name, spell(*number))})
      .help(fmt::format("for example `grad_clip = {}(1.0)`, or leave it out", record->name));
}

bool read_interval(const Value& value, std::string_view key, CheckpointDraft& draft, diag::Sink& sink) {
  if (const Record* both = as_record(value, "min_of")) {
    bool is_good = true;
    draft.every_text += draft.every_text.empty() ? "min_of(" : ", min_of(";
    for (std::string_view side : {"first", "second"})
      if (const Value* part = both->find(side)) is_good = read_interval(*part, key, draft, sink) && is_good;
    draft.every_text += ")";
    return is_good;
  }
  const auto quantity = expect_quantity(value, interval_units, key, sink);
  if (!quantity) return false;
  if (quantity->amount <= 0) {
    sink.report({diag::Kind::out_of_range, value.range, fmt::format("`{}` must be positive, found {}", key, spell(*quantity))})
        .help(fmt::format("for example `{} = 500step`", key));
    return false;
  }
  if (!check_largest(*quantity, {}, key, value.range, sink)) return false;
  const bool is_first = draft.every_text.empty() || draft.every_text.back() == '(';
  draft.every_text += (is_first ? "" : ", ") + spell(*quantity);
  draft.every.value.push_back(to_progress(*quantity));
  return true;
}

void report_goal(const ast::Expr& expr, std::string help, diag::Sink& sink) {
  sink.report({diag::Kind::wrong_type, expr.range, "`goal` takes `metric >= number` or `metric <= number`"}).help(std::move(help));
}

/// `goal` is a comparison with a metric, which is no value before the run: it is read from the tree.
std::optional<GoalDraft> read_goal(const Entry& entry, const ReadContext& context) {
  const ast::Expr& expr = *entry.setting->value;
  if (std::holds_alternative<ast::ErrorExpr>(expr.node)) return std::nullopt;
  const auto* comparison = std::get_if<ast::Binary>(&expr.node);
  const auto* metric = comparison != nullptr ? std::get_if<ast::NameRef>(&comparison->lhs->node) : nullptr;
  if (metric == nullptr) {
    report_goal(expr, "for example `goal = acc >= 0.88`", *context.sink);
    return std::nullopt;
  }
  if (comparison->op != ast::BinaryOp::ge && comparison->op != ast::BinaryOp::le) {
    const bool is_less = comparison->op == ast::BinaryOp::lt;
    const bool is_strict = is_less || comparison->op == ast::BinaryOp::gt;
    report_goal(expr, is_strict ? fmt::format("write `{} {} ...`", metric->name, is_less ? "<=" : ">=") : "for example `goal = acc >= 0.88`", *context.sink);
    return std::nullopt;
  }
  const Value value = context.evaluator->evaluate(*comparison->rhs, entry.scope);
  if (value.is_poison() || value.is_unbound()) return std::nullopt;
  const auto number = as_number(value);
  if (!number) {
    report_goal(*comparison->rhs, fmt::format("compare `{}` with a number, found {}", metric->name, describe(value)), *context.sink);
    return std::nullopt;
  }
  GoalDraft goal;
  goal.spec = {metric->name, comparison->op == ast::BinaryOp::ge ? Comparison::greater_equal : Comparison::less_equal, *number};
  goal.metric_range = comparison->lhs->range;
  return goal;
}

}  // namespace

std::string spell(const Progress& progress) {
  UnitKind kind = UnitKind::step;
  switch (progress.unit) {
    case ProgressUnit::step: kind = UnitKind::step; break;
    case ProgressUnit::epoch: kind = UnitKind::epoch; break;
    case ProgressUnit::sample: kind = UnitKind::sample; break;
    case ProgressUnit::tok: kind = UnitKind::tok; break;
    case ProgressUnit::time: kind = UnitKind::time; break;
  }
  return spell(Quantity{progress.amount, kind});
}

TrainDraft draft_train(const SectionValues& section, diag::Sink& sink) {
  TrainDraft draft;
  draft.stop = progress_of(read_quantity(section, "stop"));
  if (!draft.stop.is_stated()) draft.stop.presence = Presence::unknown;  // reported as a missing key
  draft.log_every = progress_of(read_quantity(section, "log_every"));
  read_clip(section, draft, sink);
  if (const Entry* freeze = section.find("freeze")) draft.freeze = read_patterns(freeze->value, "freeze", sink);
  return draft;
}

EvalDraft draft_eval(const SectionValues& section, const ReadContext& context) {
  EvalDraft draft;
  draft.range = section.range;
  draft.on = read_text(section, "on");
  draft.every = progress_of(read_quantity(section, "every"));
  if (const auto batches = read_integer(section, "batches"); batches.presence == Presence::known) draft.batches = batches.value;
  draft.metrics = read_words(section, "metrics");
  if (const Entry* goal = section.find("goal"); goal != nullptr && goal->setting->value) draft.goal = read_goal(*goal, context);
  return draft;
}

CheckpointDraft draft_checkpoint(const SectionValues& section, diag::Sink& sink) {
  CheckpointDraft draft;
  draft.dir = read_text(section, "dir");
  draft.every.presence = Presence::unknown;
  if (const Entry* every = section.find("every")) {
    draft.every.range = every->value.range;
    if (read_interval(every->value, "every", draft, sink)) draft.every.presence = Presence::known;
  }
  draft.keep = read_integer(section, "keep").value;
  draft.on_signal = read_boolean(section, "on_signal");
  draft.save = read_words(section, "save");
  draft.resume = read_text(section, "resume");
  return draft;
}

JobDraft draft_job(const ast::JobDecl& job, const JobSections& sections, const ReadContext& context) {
  diag::Sink& sink = *context.sink;
  JobDraft draft;
  draft.name = job.name.text;
  draft.name_range = job.name.range;
  draft.seed = read_integer(sections.top, "seed");
  draft.launch = draft_launch(sections.section("launch"), sink);
  draft.mesh = draft_mesh(sections.section("mesh"), sink);
  draft.precision = draft_precision(sections.section("precision"), draft.launch.device, sink);
  for (const SectionValues& data : sections.data) draft.data.push_back(draft_data(data, context));
  draft.train = draft_train(sections.section("train"), sink);
  if (sections.has("eval")) draft.eval = draft_eval(sections.section("eval"), context);
  if (sections.has("checkpoint")) draft.checkpoint = draft_checkpoint(sections.section("checkpoint"), sink);
  if (sections.has("init")) draft.weights = draft_weights(sections.section("init"), sink);
  return draft;
}

}  // namespace dtj::check
