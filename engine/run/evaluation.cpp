#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/run/session.hpp"

namespace dtj::run {
namespace {

/// Over this rank's micro batches.
struct Sums {
  explicit Sums(std::size_t num_metrics) : values(num_metrics + 2) {}
  double& weight() { return values[values.size() - 2]; }
  double& num_samples() { return values.back(); }

  std::vector<double> values;  ///< of weight times metric, then of the weights and of the samples
};

Result<Sums> sum_metrics(Session& session) {
  const std::vector<plan::BufferId>& ports = session.plan.ports.eval_metrics;
  const auto weight_metric = session.job().weight_metric();
  const auto read = [&](plan::BufferId port) {
    float value = 0;
    std::memcpy(&value, session.executor->data(port), sizeof value);
    return static_cast<double>(value);
  };
  Sums sums(ports.size());
  const std::int64_t num_micro = session.num_eval_steps * session.eval.sampler->num_micro_batches();
  for (std::int64_t i = 0; i < num_micro; ++i) {
    DTJ_TRY_ASSIGN(const std::int64_t num_valid, feed_micro_batch(session.eval));
    if (num_valid == 0) continue;
    DTJ_TRY(session.executor->run(session.plan.evaluate));
    const double weight = weight_metric ? read(ports[*weight_metric]) : static_cast<double>(num_valid);
    for (std::size_t m = 0; m < ports.size(); ++m)
      sums.values[m] += m == weight_metric ? weight : read(ports[m]) * weight;
    sums.weight() += weight;
    sums.num_samples() += static_cast<double>(num_valid);
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
  DTJ_TRY_ASSIGN(Sums sums, sum_metrics(session));
  DTJ_TRY(session.peers.communicator().all_reduce(sums.values.data(), static_cast<std::int64_t>(sums.values.size()),
                                                  DType::f64));
  const auto weight_metric = session.job().weight_metric();
  const EvalSpec& spec = *session.job().eval;
  EvalReport report;
  report.step = session.step;
  report.num_samples = static_cast<std::int64_t>(sums.num_samples());
  for (std::size_t m = 0; m < session.job().metrics.size(); ++m) {
    const std::string& name = session.job().metrics[m];
    const double value = sums.values[m] / (m == weight_metric ? 1.0 : std::max(sums.weight(), 1e-30));
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
