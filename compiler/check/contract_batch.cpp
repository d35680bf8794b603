#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/contract.hpp"

namespace dtj::check {
namespace {

/// A batch in samples, of which a right one is a multiple of `multiple`; none: unknown, or reported.
std::optional<std::int64_t> in_samples(const Stated<Quantity>& batch, std::string_view key, std::int64_t multiple, const DataDraft& draft,
                                       diag::Sink& sink) {
  if (!batch.is_known()) return std::nullopt;
  const auto amount = static_cast<std::int64_t>(batch.value.amount);
  if (batch.value.kind == UnitKind::sample) return amount;
  if (!draft.seq.is_known()) return std::nullopt;
  if (!draft.seq.is_stated()) {
    if (draft.has_source)
      sink.report({diag::Kind::missing_sequence_length, batch.range, fmt::format("`{}` counts tokens, and the samples of `data {}` have none", key, draft.spec.name)})
          .help(fmt::format("count samples: `{} = 128sample`", key));
    return std::nullopt;
  }
  const std::int64_t seq = draft.seq.value;
  if (amount % seq == 0) return amount / seq;
  const std::int64_t unit = seq * multiple;
  const std::int64_t below = amount / unit * unit;
  std::string help = "nearest valid: ";
  if (below > 0) help += fmt::format("`{} = {}tok` or ", key, spell(below));
  sink.report({diag::Kind::indivisible_batch, batch.range, fmt::format("`{}` is not a whole number of samples", key)})
      .under(fmt::format("{} / {} tok a sample = {:.4g} samples", spell(amount), spell(seq), static_cast<double>(amount) / static_cast<double>(seq)))
      .label(draft.seq.range, "the tokens of a sample")
      .help(help + fmt::format("`{} = {}tok`", key, spell(below + unit)))
      .fix(batch.range, fmt::format("{} = {}tok", key, spell(below > 0 ? below : unit)), diag::Applicability::maybe_incorrect);
  return std::nullopt;
}

/// A number of samples in the unit in which the job counts its global batch.
std::string spell_batch(std::int64_t samples, const DataDraft& draft) {
  if (draft.global_batch.value.kind == UnitKind::tok) return fmt::format("{}tok", spell(samples * draft.seq.value));
  return fmt::format("{}sample", spell(samples));
}

struct Divisor {
  std::int64_t samples;    ///< the global batch must be a multiple of it
  std::string arithmetic;  ///< "16 sample * 32 dp"
  std::string quotient;    ///< what the division gives: "steps of accumulation"
};

void report_indivisible(const DataDraft& draft, std::int64_t global, const Divisor& divisor, const Stated<MeshSpec>& mesh, diag::Sink& sink) {
  const double quotient = static_cast<double>(global) / static_cast<double>(divisor.samples);
  auto& report = sink.report({diag::Kind::indivisible_batch, draft.global_batch.range, "the global batch cannot be split evenly"});
  report.under(fmt::format("{} / ({}) = {:.4g} {}", spell(global), divisor.arithmetic, quotient, divisor.quotient));
  if (!mesh.range.is_none) report.label(mesh.range, fmt::format("{} data-parallel ranks share it", mesh.value.dp));
  report.note("global_batch = micro_batch * gradient_accumulation * dp");
  const std::int64_t below = global / divisor.samples * divisor.samples;
  std::string help = "nearest valid: ";
  if (below > 0) help += fmt::format("`global_batch = {}` or ", spell_batch(below, draft));
  report.help(help + fmt::format("`global_batch = {}`", spell_batch(below + divisor.samples, draft)));
  report.fix(draft.global_batch.range, fmt::format("global_batch = {}", spell_batch(below > 0 ? below : divisor.samples, draft)), diag::Applicability::maybe_incorrect);
}

void report_mismatch(const DataDraft& draft, std::int64_t global, std::int64_t micro, std::int64_t accumulation, const Stated<MeshSpec>& mesh,
                     diag::Sink& sink) {
  const std::int64_t product = micro * accumulation * mesh.value.dp;
  auto& report = sink.report({diag::Kind::batch_mismatch, draft.global_batch.range, "the parts of the global batch do not multiply to it"});
  report.under(fmt::format("{} samples", spell(global)));
  report.label(draft.micro_batch.range, fmt::format("{} * {} * {} = {} samples", micro, accumulation, mesh.value.dp, spell(product)));
  report.note("global_batch = micro_batch * gradient_accumulation * dp");
  std::string help = fmt::format("write `global_batch = {}`", spell_batch(product, draft));
  if (global % (micro * mesh.value.dp) == 0) help += fmt::format(", or `gradient_accumulation = {}`", global / (micro * mesh.value.dp));
  report.help(std::move(help));
  report.fix(draft.global_batch.range, fmt::format("global_batch = {}", spell_batch(product, draft)), diag::Applicability::maybe_incorrect);
}

/// The parts of a global batch; none: reported.
std::optional<std::pair<std::int64_t, std::int64_t>> split_batch(const DataDraft& draft, std::int64_t global, std::optional<std::int64_t> micro,
                                                                 std::optional<std::int64_t> accumulation, const Stated<MeshSpec>& mesh,
                                                                 diag::Sink& sink) {
  const std::int64_t dp = mesh.value.dp;
  if (micro && accumulation) {
    if (*micro * *accumulation * dp == global) return std::pair(*micro, *accumulation);
    report_mismatch(draft, global, *micro, *accumulation, mesh, sink);
    return std::nullopt;
  }
  Divisor divisor{dp, fmt::format("{} dp", dp), "samples on each rank"};
  if (micro) divisor = {*micro * dp, fmt::format("{} sample * {} dp", *micro, dp), "steps of accumulation"};
  if (accumulation && *accumulation > 1) divisor = {*accumulation * dp, fmt::format("{} accumulated * {} dp", *accumulation, dp), "samples in a micro batch"};
  if (global % divisor.samples != 0) {
    report_indivisible(draft, global, divisor, mesh, sink);
    return std::nullopt;
  }
  if (micro) return std::pair(*micro, global / (*micro * dp));
  const std::int64_t steps = accumulation.value_or(1);
  return std::pair(global / (steps * dp), steps);
}

void report_eval_accumulation(const DataDraft& draft, diag::Sink& sink) {
  sink.report({diag::Kind::batch_mismatch, draft.gradient_accumulation.range, "an evaluation has no gradients to accumulate"})
      .help("leave `gradient_accumulation` out, or write 1");
}

/// What a plan can count.
bool check_sizes(const DataDraft& draft, std::int64_t micro, std::int64_t accumulation, diag::Sink& sink) {
  constexpr std::int64_t most = 1 << 24;
  if (micro <= most && accumulation <= most) return true;
  const bool is_micro = micro > most;
  sink.report({diag::Kind::out_of_range, draft.global_batch.range,
               fmt::format("a {} must be at most {}, found {}", is_micro ? "micro batch" : "number of accumulated micro batches", spell(most),
                           spell(is_micro ? micro : accumulation))})
      .help(is_micro ? "split it with `micro_batch`, or train on smaller batches" : "take larger micro batches");
  return false;
}

void set_stand_in(DataDraft& draft) {
  draft.spec.micro_batch = 2;
  draft.spec.gradient_accumulation = 1;
}

}  // namespace

bool check_batch(DataDraft& draft, const Stated<MeshSpec>& mesh, bool is_for_training, diag::Sink& sink) {
  set_stand_in(draft);
  const auto micro = draft.micro_batch.is_stated() ? in_samples(draft.micro_batch, "micro_batch", 1, draft, sink) : std::nullopt;
  std::optional<std::int64_t> accumulation;
  if (draft.gradient_accumulation.presence == Presence::known) accumulation = draft.gradient_accumulation.value;
  const std::int64_t multiple = micro.value_or(1) * accumulation.value_or(1) * (mesh.is_known() ? mesh.value.dp : 1);
  const auto global = in_samples(draft.global_batch, "global_batch", std::max<std::int64_t>(multiple, 1), draft, sink);
  if (!is_for_training && accumulation.value_or(1) != 1) {
    report_eval_accumulation(draft, sink);
    return false;
  }
  if (!is_for_training) accumulation = micro ? std::optional<std::int64_t>(1) : std::nullopt;

  const bool are_parts_known = draft.gradient_accumulation.is_known() && (micro || !draft.micro_batch.is_stated());
  if (!global || !are_parts_known || !mesh.is_known()) return false;
  const auto parts = split_batch(draft, *global, micro, accumulation, mesh, sink);
  if (!parts || !check_sizes(draft, parts->first, parts->second, sink)) return false;
  draft.spec.global_batch = *global;
  draft.spec.micro_batch = parts->first;
  draft.spec.gradient_accumulation = parts->second;
  return true;
}

void check_sampler(const DataDraft& train, diag::Sink& sink) {
  if (train.sampler.presence != Presence::known || train.drop_last) return;
  const bool is_shuffle = train.sampler.value.kind == SamplerKind::shuffle;
  sink.report({diag::Kind::incomplete_training_batch, train.sampler.range, "training takes whole batches, and this sampler keeps an incomplete last one"})
      .note("the mean over a smaller batch would weigh its samples more")
      .help(is_shuffle ? fmt::format("write `shuffle(seed = {}, drop_last = true)`", train.sampler.value.seed)
                       : std::string("write `sequential(drop_last = true)`"))
      .fix(train.sampler.range, is_shuffle ? fmt::format("shuffle(seed = {}, drop_last = true)", train.sampler.value.seed)
                                           : std::string("sequential(drop_last = true)"));
}

}  // namespace dtj::check
