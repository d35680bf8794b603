#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/contract.hpp"

// When evaluations and checkpoints happen, and what they need.

namespace dtj::check {
namespace {

/// Whether an interval is longer than the whole run; none: that depends on the size of the data or on the clock.
std::optional<bool> is_after(const Progress& every, const Progress& stop, const DataDraft* train) {
  if (every.unit == stop.unit) return every.amount > stop.amount;
  if (train == nullptr || every.unit == ProgressUnit::time) return std::nullopt;
  const auto every_steps = steps_of(every, train->spec);
  const auto stop_steps = steps_of(stop, train->spec);
  if (!every_steps || !stop_steps) return std::nullopt;
  return *every_steps > *stop_steps;
}

void check_checkpoint_against_stop(const CheckpointDraft& checkpoint, const TrainDraft& train_draft, const DataDraft* train, diag::Sink& sink) {
  for (const Progress& every : checkpoint.every.value)
    if (is_after(every, train_draft.stop.value, train) != true) return;
  sink.report({diag::Kind::no_checkpoint_before_end, checkpoint.every.range, "no checkpoint can complete before the end of the training"})
      .under(fmt::format("one every {}", checkpoint.every_text))
      .label(train_draft.stop.range, fmt::format("the end is after {}", spell(train_draft.stop.value)))
      .help(fmt::format("write `every = {}`, or less", spell(train_draft.stop.value)))
      .fix(checkpoint.every.range, spell(train_draft.stop.value), diag::Applicability::maybe_incorrect);
}

void check_checkpoint_against_walltime(const CheckpointDraft& checkpoint, const Stated<Quantity>& walltime, diag::Sink& sink) {
  if (walltime.presence != Presence::known || (checkpoint.on_signal.is_stated() && checkpoint.on_signal.value)) return;
  for (const Progress& every : checkpoint.every.value)
    if (every.unit != ProgressUnit::time || every.amount < walltime.value.amount) return;
  const double half = walltime.value.amount / 2;
  sink.report({diag::Kind::no_checkpoint_before_end, checkpoint.every.range, "no checkpoint can complete before the walltime"})
      .under(fmt::format("one every {}", checkpoint.every_text))
      .label(walltime.range, fmt::format("the job ends after {}", spell(walltime.value)))
      .help(fmt::format("write `every = {}`, or `min_of(500step, 30min)`, or add `on_signal = true;`", spell(Quantity{half, UnitKind::time})))
      .fix(checkpoint.every.range, spell(Quantity{half, UnitKind::time}), diag::Applicability::maybe_incorrect);
}

}  // namespace

std::optional<double> steps_of(const Progress& progress, const DataSpec& data) {
  switch (progress.unit) {
    case ProgressUnit::step: return progress.amount;
    case ProgressUnit::sample: return progress.amount / static_cast<double>(data.global_batch);
    case ProgressUnit::tok: return progress.amount / static_cast<double>(data.global_batch * data.tokens_per_sample());
    case ProgressUnit::epoch:
    case ProgressUnit::time: return std::nullopt;
  }
  return std::nullopt;
}

void check_token_intervals(const JobDraft& draft, const DataDraft& train, diag::Sink& sink) {
  if (!train.has_source || train.seq.presence == Presence::unknown || train.seq.is_stated()) return;
  const auto check = [&](const Progress& progress, source::Range range, std::string_view key) {
    if (progress.unit != ProgressUnit::tok) return;
    sink.report({diag::Kind::missing_sequence_length, range, fmt::format("`{}` counts tokens, and the samples of `data {}` have none", key, train.spec.name)})
        .help(fmt::format("count steps, samples or epochs: `{} = 1epoch`", key));
  };
  check(draft.train.stop.value, draft.train.stop.range, "stop");
  check(draft.train.log_every.value, draft.train.log_every.range, "log_every");
  if (draft.eval) check(draft.eval->every.value, draft.eval->every.range, "every");
  if (!draft.checkpoint) return;
  for (const Progress& every : draft.checkpoint->every.value) check(every, draft.checkpoint->every.range, "every");
}

DataDraft* find_eval_data(JobDraft& draft, diag::Sink& sink) {
  if (!draft.eval || draft.eval->on.presence != Presence::known) return nullptr;
  std::vector<std::string> names;
  for (DataDraft& data : draft.data) {
    if (data.spec.name == draft.eval->on.value) return &data;
    names.push_back(data.spec.name);
  }
  auto& report = sink.report({diag::Kind::unknown_data_section, draft.eval->on.range, fmt::format("there is no section `data {}`", draft.eval->on.value)});
  suggest(report, draft.eval->on.value, names);
  return nullptr;
}

void check_intervals(const JobDraft& draft, const DataDraft* train, diag::Sink& sink) {
  const bool is_stop_known = draft.train.stop.presence == Presence::known;
  if (draft.eval && is_stop_known && draft.eval->every.is_known() && is_after(draft.eval->every.value, draft.train.stop.value, train) == true) {
    auto& report = sink.report({diag::Kind::no_evaluation_before_end, draft.eval->every.is_stated() ? draft.eval->every.range : draft.eval->range,
                                "no evaluation happens before the end of the training"});
    report.under(fmt::format("one every {}", spell(draft.eval->every.value)));
    report.label(draft.train.stop.range, fmt::format("the end is after {}", spell(draft.train.stop.value)));
    report.help(fmt::format("write `every = {}`, or less", spell(draft.train.stop.value)));
  }
  if (!draft.checkpoint || draft.checkpoint->every.presence != Presence::known) return;
  if (is_stop_known) check_checkpoint_against_stop(*draft.checkpoint, draft.train, train, sink);
  check_checkpoint_against_walltime(*draft.checkpoint, draft.launch.walltime, sink);
}

void check_save(const CheckpointDraft& checkpoint, const StateKinds& kinds, diag::Sink& sink) {
  if (checkpoint.save.presence != Presence::known || checkpoint.resume.presence == Presence::unknown || checkpoint.resume.value == "approximate") return;
  struct Need {
    std::string_view name, reason;
    bool is_there;
  };
  const Need needs[] = {
      {"params", "the model would start anew", true},
      {"buffers", "the buffers of the model would start from their first values", kinds.has_buffers},
      {"optimizer", "the moments of the optimizer would start from zero", true},
      {"schedule", "the learning rate would start from its first step", true},
      {"rng", "random numbers would repeat", true},
      {"sampler", "samples would repeat", true},
      {"scaler", "the loss scale would have to be found anew", kinds.has_scaler},
  };
  std::string list, complete;
  const auto& save = checkpoint.save.value;
  std::vector<std::string> reasons;
  for (const auto& [name, reason, is_there] : needs) {
    const bool is_saved = std::find(save.begin(), save.end(), name) != save.end();
    if (is_saved || is_there) complete += (complete.empty() ? "" : ", ") + std::string(name);
    if (is_saved || !is_there) continue;
    list += (list.empty() ? "`" : ", `") + std::string(name) + "`";
    reasons.push_back(fmt::format("without `{}`, {}", name, reason));
  }
  if (reasons.empty()) return;
  auto& report = sink.report({diag::Kind::cannot_resume_exactly, checkpoint.save.range, fmt::format("this checkpoint cannot resume exactly: `save` omits {}", list)});
  for (std::string& reason : reasons) report.note(std::move(reason));
  report.help(fmt::format("write `save = [{}]`, or `resume = approximate`", complete));
  report.fix(checkpoint.save.range, fmt::format("save = [{}]", complete), diag::Applicability::maybe_incorrect);
}

void check_metrics(const EvalDraft& eval, const std::vector<std::string>& metrics, diag::Sink& sink) {
  const auto check = [&](const std::string& name, source::Range range, const std::vector<std::string>& known, std::string_view owner) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return true;
    auto& report = sink.report({diag::Kind::unknown_metric, range, fmt::format("{} has no metric `{}`", owner, name)});
    suggest(report, name, known);
    return false;
  };
  bool is_good = eval.metrics.is_known();
  for (const std::string& name : eval.metrics.value) is_good = check(name, eval.metrics.range, metrics, "the objective") && is_good;
  if (!eval.goal) return;
  const bool has_list = eval.metrics.is_stated() && is_good;
  check(eval.goal->spec.metric, eval.goal->metric_range, has_list ? eval.metrics.value : metrics, has_list ? "the list `metrics`" : "the objective");
}

}  // namespace dtj::check
