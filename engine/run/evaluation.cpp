#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/run/session.hpp"

namespace dtj::run {
namespace {

// Sums over this rank's samples, and their number last.
Result<std::vector<double>> sum_metrics(Session& session) {
  const std::vector<plan::BufferId>& ports = session.plan.ports.eval_metrics;
  std::vector<double> sums(ports.size() + 1);
  const std::int64_t num_micro = session.num_eval_steps * session.eval.sampler->num_micro_batches();
  for (std::int64_t i = 0; i < num_micro; ++i) {
    DTJ_TRY_ASSIGN(const std::int64_t num_valid, feed_micro_batch(session.eval));
    if (num_valid == 0) continue;
    DTJ_TRY(session.executor->run(session.plan.evaluate));
    for (std::size_t m = 0; m < ports.size(); ++m) {
      float mean = 0;
      std::memcpy(&mean, session.executor->data(ports[m]), sizeof mean);
      sums[m] += static_cast<double>(mean) * static_cast<double>(num_valid);
    }
    sums.back() += static_cast<double>(num_valid);
  }
  session.eval.loader->seek(0);  // reads ahead for the next evaluation, which takes the same samples
  return sums;
}

bool is_met(const GoalSpec& goal, double value) {
  switch (goal.comparison) {
    case Comparison::less_equal:
      return value <= goal.value;
    case Comparison::greater_equal:
      return value >= goal.value;
  }
  return false;
}

Status write_record(Session& session, const EvalReport& report) {
  if (!session.metrics) return {};
  std::vector<monitor::MetricsField> record{{"event", std::string_view("eval")}, {"step", report.step}};
  for (const auto& [name, value] : report.metrics) record.push_back({name, value});
  record.push_back({"num_samples", report.num_samples});
  record.push_back({"goal_met", report.goal_met});
  return session.metrics->write(record);
}

}  // namespace

Result<EvalReport> evaluate(Session& session) {
  session.enter("eval");
  DTJ_TRY_ASSIGN(std::vector<double> sums, sum_metrics(session));
  DTJ_TRY(session.peers.communicator().all_reduce(sums.data(), static_cast<std::int64_t>(sums.size()), DType::f64));
  const EvalSpec& spec = *session.job().eval;
  EvalReport report;
  report.step = session.step;
  report.num_samples = static_cast<std::int64_t>(sums.back());
  for (std::size_t m = 0; m < session.job().metrics.size(); ++m) {
    const std::string& name = session.job().metrics[m];
    const double value = sums[m] / sums.back();
    const bool is_goal = spec.goal && spec.goal->metric == name;
    if (is_goal) report.goal_met = is_met(*spec.goal, value);
    const bool is_wanted =
        spec.metrics.empty() || std::find(spec.metrics.begin(), spec.metrics.end(), name) != spec.metrics.end();
    if (is_goal || is_wanted) report.metrics[name] = value;
  }
  DTJ_TRY(write_record(session, report));
  if (session.callbacks.on_eval) session.callbacks.on_eval(report);
  return report;
}

}  // namespace dtj::run
