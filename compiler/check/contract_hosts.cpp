#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/check/policy.hpp"
#include "compiler/check/units.hpp"

namespace dtj::check {
namespace {

constexpr double slack_seconds = 60;            // a scheduler may send its signal that much late
constexpr double kill_wait_seconds = 30;        // what Slurm leaves between the signal and the kill when nothing is asked
constexpr double assumed_bandwidth = 256.0 * (1 << 20);
constexpr std::int64_t first_open_port = 1024;  // dtj:allow L203 a rule of every Unix, and no service

Quantity seconds(double amount) { return {amount, UnitKind::time}; }

void check_cores(const JobSections& sections, const JobDraft& draft, diag::Sink& sink) {
  const SectionValues launch = sections.section("launch");
  const auto cores = read_integer(launch, "cores_per_node");
  const auto threads = read_integer(launch, "threads_per_rank");
  if (cores.presence != Presence::known || !threads.is_known() || !draft.launch.ranks_per_node.is_known()) return;
  std::int64_t workers = 0;
  source::Range workers_range;
  for (const SectionValues& data : sections.data) {
    const auto stated = read_integer(data, "workers");
    if (stated.presence != Presence::known || stated.value <= workers) continue;
    workers = stated.value;
    workers_range = stated.range;
  }
  const std::int64_t ranks = draft.launch.ranks_per_node.value;
  const std::int64_t needed = ranks * (threads.value + workers);
  if (needed <= cores.value) return;
  auto& report = sink.report({diag::Kind::too_many_threads, threads.is_stated() ? threads.range : draft.launch.ranks_per_node.range,
                              fmt::format("the ranks of a node have {} threads, and it has {} cores", needed, cores.value)});
  report.under(fmt::format("{} ranks * ({} threads + {} workers) = {}", ranks, threads.value, workers, needed));
  report.label(cores.range, "stated here");
  if (workers > 0) report.label(workers_range, "processes of the loader, per rank");
  const std::int64_t left = cores.value / ranks - workers;
  if (left >= 1 && threads.is_stated())
    report.help(fmt::format("write `threads_per_rank = {}`", left)).fix(threads.range, fmt::format("threads_per_rank = {}", left), diag::Applicability::maybe_incorrect);
  else
    report.help(fmt::format("lower the ranks of a node or `workers`, or state the cores of the node: `cores_per_node = {}`", needed));
}

void check_port(const JobSections& sections, const JobDraft& draft, diag::Sink& sink) {
  const auto port = read_integer(sections.section("launch"), "port");
  if (port.presence != Presence::known) return;
  if (port.value < first_open_port) {
    sink.report({diag::Kind::reserved_port, port.range, fmt::format("port {} is one that only the system may open", port.value)})
        .help("leave `port` out: rank 0 takes a free one and tells the others");
    return;
  }
  if (draft.launch.spec.method == LaunchMethod::local) return;
  sink.report({diag::Kind::fixed_port, port.range, "two jobs on one node would open the same port"})
      .help("leave `port` out: rank 0 takes a free one and tells the others");
}

struct SaveTime {
  double seconds;
  std::string reason;
};

std::optional<SaveTime> save_time_of(const SectionValues& checkpoint, std::optional<double> state_bytes) {
  const auto stated = read_quantity(checkpoint, "save_time");
  const auto bandwidth = read_quantity(checkpoint, "write_bandwidth");
  if (stated.presence == Presence::known) return SaveTime{stated.value.amount, "as `save_time` says"};
  if (!stated.is_known() || !bandwidth.is_known() || !state_bytes) return std::nullopt;
  const double rate = bandwidth.is_stated() ? bandwidth.value.amount : assumed_bandwidth;
  return SaveTime{std::ceil(*state_bytes / rate), fmt::format("{:.3g} MiB at {:.3g} MiB/s", *state_bytes / (1 << 20), rate / (1 << 20))};
}

void report_late(const Entry* lead, const JobDraft& draft, const SaveTime& save, double available, diag::Sink& sink) {
  const double needed = std::ceil((save.seconds + slack_seconds) / 60) * 60;
  const source::Range range = lead != nullptr ? lead->value.range : draft.checkpoint->on_signal.range;
  auto& report = sink.report({diag::Kind::signal_too_late, range, "the signal leaves too little time for a checkpoint"});
  report.under(lead != nullptr ? fmt::format("{} before the end", spell(seconds(available)))
                               : fmt::format("without `signal_before`, {} before the end", spell(seconds(available))));
  report.note(fmt::format("a checkpoint takes {} ({}), and the signal may come {} late", spell(seconds(save.seconds)), save.reason, spell(seconds(slack_seconds))));
  const std::string text = fmt::format("signal_before = {}", spell(seconds(needed)));
  report.help(lead != nullptr ? fmt::format("write `{}`", text) : fmt::format("write `method = slurm({})`", text));
  if (lead != nullptr) report.fix(range, text, diag::Applicability::maybe_incorrect);
}

}  // namespace

void check_hosts(const JobSections& sections, const JobDraft& draft, diag::Sink& sink) {
  check_cores(sections, draft, sink);
  check_port(sections, draft, sink);
}

void check_signal(const JobSections& sections, const JobDraft& draft, std::optional<double> state_bytes, diag::Sink& sink) {
  const auto& walltime = draft.launch.walltime;
  const bool is_scheduled = draft.launch.spec.method == LaunchMethod::slurm;
  if (walltime.is_stated() && !sections.has("checkpoint"))
    sink.report({diag::Kind::no_checkpoint, walltime.range, "the job ends after its walltime and writes no checkpoint"})
        .help("add `checkpoint { dir = <out>; every = min_of(500step, 30min); }`");
  const SectionValues launch = sections.section("launch");
  const Entry* lead = find_argument(launch, "method", "signal_before");
  const auto* amount = lead != nullptr ? lead->value.as<Quantity>() : nullptr;
  if (amount != nullptr && walltime.presence == Presence::known && amount->amount >= walltime.value.amount) {
    const std::string text = fmt::format("signal_before = {}", spell(seconds(std::max(1.0, std::floor(walltime.value.amount / 4)))));
    sink.report({diag::Kind::signal_too_early, lead->value.range, "the signal comes before the job has begun"})
        .label(walltime.range, fmt::format("the job lasts {}", spell(walltime.value)))
        .help(fmt::format("write `{}`, or less", text))
        .fix(lead->value.range, text, diag::Applicability::maybe_incorrect);
    return;
  }
  if (!is_scheduled || !draft.checkpoint || !draft.checkpoint->on_signal.is_known() || !draft.checkpoint->on_signal.value) return;
  if (lead == nullptr && !draft.checkpoint->on_signal.is_stated()) return;  // nothing is promised
  if (lead != nullptr && amount == nullptr) return;
  const auto save = save_time_of(sections.section("checkpoint"), state_bytes);
  const double available = amount != nullptr ? amount->amount : kill_wait_seconds;
  if (save && available < save->seconds + slack_seconds) report_late(lead, draft, *save, available, sink);
}

void check_reduction(const JobSections& sections, const Stated<MeshSpec>& mesh, diag::Sink& sink) {
  const SectionValues parallel = sections.section("parallel");
  const auto reduce = read_text(parallel, "reduce");
  if (reduce.presence == Presence::known && reduce.value == "micro_batch")
    sink.report({diag::Kind::reduction_per_micro_batch, reduce.range, "gradients are summed over the ranks once per step, not once per micro batch"})
        .note("a sum per micro batch moves the same bytes `gradient_accumulation` times, and gives the same gradient")
        .help("write `reduce = step`, or leave it out")
        .fix(reduce.range, "reduce = step");
  const auto zero = read_integer(parallel, "zero");
  if (zero.presence != Presence::known || zero.value == 0 || !mesh.is_known() || mesh.value.dp > 1) return;
  sink.report({diag::Kind::needless_zero, zero.range, fmt::format("`zero = {}` shards over the replicas, and there is one", zero.value)})
      .help("write `zero = 0`, or leave it out");
}

}  // namespace dtj::check
