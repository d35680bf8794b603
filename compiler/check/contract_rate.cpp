#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/check/contract.hpp"
#include "compiler/check/evaluator.hpp"
#include "compiler/check/policy.hpp"
#include "compiler/check/units.hpp"

namespace dtj::check {
namespace {

const SectionValues* find_data(const JobSections& sections, std::string_view label) {
  for (const SectionValues& data : sections.data)
    if (data.label == label) return &data;
  return nullptr;
}

/// Samples of a quantity of samples or tokens; none: it cannot be said.
std::optional<double> samples_of(const Quantity& quantity, const DataDraft& data) {
  if (quantity.kind == UnitKind::sample) return quantity.amount;
  if (quantity.kind != UnitKind::tok || !data.seq.is_known() || data.seq.value == 0) return std::nullopt;
  return quantity.amount / static_cast<double>(data.seq.value);
}

/// A setting that makes the number of ranks and names a placeholder that the global batch names too.
const Entry* shared_with_ranks(const JobSections& sections, const Entry& batch) {
  const auto names_one = [&](const SectionValues& section, std::string_view key) -> const Entry* {
    const Entry* entry = section.find(key);
    if (entry == nullptr) return nullptr;
    const auto is_shared = [&](const std::string& name) { return batch.placeholders.count(name) != 0; };
    return std::any_of(entry->placeholders.begin(), entry->placeholders.end(), is_shared) ? entry : nullptr;
  };
  const auto launch = sections.sections.find("launch");
  if (launch != sections.sections.end())
    for (std::string_view key : {"nodes", "ranks_per_node", "gpus_per_node", "procs_per_gpu"})
      if (const Entry* entry = names_one(launch->second, key)) return entry;
  const auto mesh = sections.sections.find("mesh");
  return mesh != sections.sections.end() ? names_one(mesh->second, "dp") : nullptr;
}

/// The batch for which the base's optimizer was written, when an heir states another under it.
std::optional<Value> replaced_batch(const MergedJob& job, const JobSections& sections, const Entry& batch, const ReadContext& context) {
  const Entry* optimizer = sections.top.find("optimizer");
  if (optimizer == nullptr || optimizer->scope == batch.scope) return std::nullopt;
  for (const MergedSection& section : job.replaced) {
    if (section.front().kind.text != "data" || !section.front().label || section.front().label->text != "train") continue;
    for (const MergedSetting& setting : section.settings) {
      if (setting.setting->key.to_string() != "global_batch" || !setting.setting->value || setting.scope != optimizer->scope) continue;
      Value value = context.evaluator->evaluate(*setting.setting->value, setting.scope);
      if (const auto* count = value.as<std::int64_t>()) value.data = Quantity{static_cast<double>(*count), UnitKind::sample};
      value.range = setting.setting->value->range;
      return value;
    }
  }
  return std::nullopt;
}

bool differs(const Value& base, const Value& heir) {
  const auto* before = base.as<Quantity>();
  const auto* after = heir.as<Quantity>();
  return before != nullptr && after != nullptr && (before->kind != after->kind || before->amount != after->amount);
}

/// The place before the closing bracket of the section `train` of the heir, for a fix.
void add_to_train(diag::Diagnostic& report, const SectionValues& train, const std::string& text) {
  if (train.parts.empty()) return;
  const source::Range whole = train.parts.front();
  report.fix(source::Range::of(whole.file, whole.end - 1, whole.end - 1), text + " ", diag::Applicability::maybe_incorrect);
}

double scale_of(const SectionValues& train_section, const DataDraft& train, diag::Sink& sink) {
  const auto rule = read_text(train_section, "lr_scaling");
  if (rule.presence != Presence::known || rule.value == "none") return 1;
  const Entry* base = find_argument(train_section, "lr_scaling", "base");
  if (base == nullptr) {
    sink.report({diag::Kind::missing_key, rule.range, fmt::format("`{}` needs the batch for which the learning rate was found", rule.value)})
        .help(fmt::format("for example `lr_scaling = {}(base = 256sample)`", rule.value));
    return 1;
  }
  const auto* quantity = base->value.as<Quantity>();
  const auto samples = quantity != nullptr ? samples_of(*quantity, train) : std::nullopt;
  if (!samples || *samples <= 0) return 1;
  const double ratio = static_cast<double>(train.spec.global_batch) / *samples;
  return rule.value == "linear" ? ratio : std::sqrt(ratio);
}

}  // namespace

void check_set_sizes(const JobSections& sections, const DataDraft* train, const DataDraft* eval, diag::Sink& sink) {
  if (eval != nullptr && eval->sampler.presence == Presence::known && eval->drop_last && eval != train)
    sink.report({diag::Kind::evaluation_drops_samples, eval->sampler.range, "the evaluation leaves out the samples of the last, incomplete batch"})
        .note("every rank pads the last batch of an evaluation, and the padding counts in no metric")
        .help("write `sequential()`")
        .fix(eval->sampler.range, "sequential()");
  const SectionValues* section = train != nullptr ? find_data(sections, train->spec.name) : nullptr;
  if (section == nullptr || train->global_batch.presence != Presence::known) return;
  const auto stated = read_quantity(*section, "samples");
  if (stated.presence != Presence::known) return;
  const auto samples = samples_of(stated.value, *train);
  const auto batch = samples_of(train->global_batch.value, *train);
  if (!samples || !batch || *samples >= *batch) return;
  auto& report = sink.report({diag::Kind::data_too_small, train->global_batch.range, "the training set is smaller than one global batch"});
  report.under(fmt::format("{} samples", spell(*batch)));
  report.label(stated.range, fmt::format("the set has {} samples", spell(std::floor(*samples))));
  report.note("training takes whole batches only, so it would take no step");
  report.help("lower `global_batch` to what the set holds, or less");
}

double check_rate_rule(const MergedJob& job, const JobSections& sections, const Stated<MeshSpec>& mesh, const DataDraft* train,
                       const ReadContext& context) {
  const SectionValues train_section = sections.section("train");
  const SectionValues* data = train != nullptr ? find_data(sections, train->spec.name) : nullptr;
  const Entry* batch = data != nullptr ? data->find("global_batch") : nullptr;
  if (batch == nullptr) return 1;
  const auto rule = read_text(train_section, "lr_scaling");
  if (rule.is_stated()) return rule.is_known() ? scale_of(train_section, *train, *context.sink) : 1;
  if (mesh.is_known() && mesh.value.dp == 1) return 1;
  const Entry* ranks = shared_with_ranks(sections, *batch);
  const auto before = ranks == nullptr ? replaced_batch(job, sections, *batch, context) : std::nullopt;
  if (ranks == nullptr && !(before && differs(*before, batch->value))) return 1;

  auto& report = context.sink->report({diag::Kind::learning_rate_rule, batch->value.range,
                                       ranks != nullptr ? "the global batch grows with the ranks, and the learning rate states no rule for it"
                                                        : "the job changes the global batch of its base, and inherits the optimizer with its learning rate"});
  if (ranks != nullptr) report.label(ranks->value.range, "the ranks follow the same placeholder");
  if (before) report.label(before->range, "the learning rate was written for this batch");
  report.note("a larger batch at the same rate trains less per sample; a rate for it has to be chosen");
  report.help("add `lr_scaling = none;` to `train` if the rate is meant for every batch, or `lr_scaling = linear(base = 256sample);` with the batch it was found for");
  add_to_train(report, train_section, "lr_scaling = none;");
  return 1;
}

void check_schedule_end(const Value& optimizer, const JobDraft& draft, const DataDraft* train, diag::Sink& sink) {
  const auto* instance = optimizer.as<std::shared_ptr<ModuleInstance>>();
  const Value* rate = instance != nullptr ? (*instance)->scope->find("lr") : nullptr;
  const auto* schedule = rate != nullptr ? rate->as<std::shared_ptr<ModuleInstance>>() : nullptr;
  const Value* total = schedule != nullptr ? (*schedule)->scope->find("total") : nullptr;
  const auto* steps = total != nullptr ? total->as<std::int64_t>() : nullptr;
  if (steps == nullptr || train == nullptr || draft.train.stop.presence != Presence::known) return;
  const auto stop = steps_of(draft.train.stop.value, train->spec);
  if (!stop || std::ceil(*stop) == static_cast<double>(*steps)) return;
  const bool is_short = static_cast<double>(*steps) < *stop;
  sink.report({diag::Kind::schedule_end, draft.train.stop.range,
               fmt::format("the schedule ends at step {}, and the training at step {}", spell(*steps), spell(std::ceil(*stop)))})
      .note(is_short ? "the rate stays at its last value for the rest" : "the rate does not reach its last value")
      .help(fmt::format("write `total = {}` in the schedule, or `stop = {}step`", spell(std::ceil(*stop)), spell(*steps)));
}

}  // namespace dtj::check
