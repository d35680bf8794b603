#include "engine/run/reporter.hpp"

#include <algorithm>

namespace dtj::run {

StepTime& StepTime::operator+=(const StepTime& other) {
  data += other.data;
  compute += other.compute;
  communication += other.communication;
  total += other.total;
  num_steps += other.num_steps;
  return *this;
}

Reporter::Reporter(Session& session)
    : session_(session), log_every_({session.job().train.log_every}, session.step_size), last_log_(Clock::now()) {}

Status Reporter::report(const StepTime& time, double gradient_norm) {
  since_log_ += time;
  const TrainerCallbacks& callbacks = session_.callbacks;
  if (callbacks.on_step) callbacks.on_step(make_report(time, gradient_norm));
  if (!is_log_step()) return {};
  const StepReport report = make_report(since_log_, gradient_norm);
  since_log_ = {};
  last_log_ = Clock::now();
  if (callbacks.on_log) callbacks.on_log(report);
  return write_record(report);
}

StepReport Reporter::make_report(const StepTime& time, double gradient_norm) const {
  StepReport report;
  report.step = session_.step;
  report.total_steps = session_.total_steps.value_or(0);
  report.epoch = static_cast<double>(session_.step) / static_cast<double>(session_.step_size.steps_per_epoch);
  report.metrics = session_.last_metrics;
  report.gradient_norm = gradient_norm;
  report.learning_rate = session_.last_learning_rate;
  const double samples = static_cast<double>(time.num_steps * session_.step_size.samples);
  if (time.total > 0) report.samples_per_second = samples / time.total;
  if (session_.train.spec.seq > 0) {
    report.tokens_per_second = report.samples_per_second * static_cast<double>(session_.step_size.tokens_per_sample);
  }
  report.seconds_data = time.data;
  report.seconds_compute = time.compute;
  report.seconds_communication = time.communication;
  report.seconds_other = std::max(0.0, time.total - time.data - time.compute - time.communication);
  return report;
}

bool Reporter::is_log_step() const {
  return log_every_.is_due_at(session_.step) || log_every_.is_due_after(seconds_since(last_log_)) ||
         session_.step == session_.total_steps;
}

Status Reporter::write_record(const StepReport& report) {
  if (!session_.metrics) return {};
  std::vector<monitor::MetricsField> record{
      {"event", std::string_view("step")}, {"step", report.step}, {"epoch", report.epoch}};
  for (const auto& [name, value] : report.metrics) record.push_back({name, value});
  record.push_back({"gradient_norm", report.gradient_norm});
  record.push_back({"learning_rate", report.learning_rate});
  record.push_back({"samples_per_second", report.samples_per_second});
  record.push_back({"tokens_per_second", report.tokens_per_second});
  record.push_back({"seconds_data", report.seconds_data});
  record.push_back({"seconds_compute", report.seconds_compute});
  record.push_back({"seconds_communication", report.seconds_communication});
  record.push_back({"seconds_other", report.seconds_other});
  return session_.metrics->write(record);
}

}  // namespace dtj::run
