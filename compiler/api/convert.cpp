#include "compiler/api/convert.hpp"

#include <fmt/format.h>

namespace dtj::api {

namespace {

StepInfo step_info(const run::StepReport& report) {
  StepInfo info;
  info.step = report.step;
  info.total_steps = report.total_steps;
  info.epoch = report.epoch;
  info.metrics = report.metrics;
  info.gradient_norm = report.gradient_norm;
  info.learning_rate = report.learning_rate;
  info.samples_per_second = report.samples_per_second;
  info.tokens_per_second = report.tokens_per_second;
  info.seconds_data = report.seconds_data;
  info.seconds_compute = report.seconds_compute;
  info.seconds_communication = report.seconds_communication;
  info.seconds_other = report.seconds_other;
  return info;
}

EvalInfo eval_info(const run::EvalReport& report) { return {report.step, report.metrics, report.num_samples, report.goal_met}; }

MessageLevel message_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return MessageLevel::debug;
    case LogLevel::info: return MessageLevel::info;
    case LogLevel::warning: return MessageLevel::warning;
    case LogLevel::error: return MessageLevel::error;
  }
  return MessageLevel::error;
}

}  // namespace

DiagnosticSeverity severity_of(diag::Severity severity) {
  switch (severity) {
    case diag::Severity::error: return DiagnosticSeverity::error;
    case diag::Severity::warning: return DiagnosticSeverity::warning;
    case diag::Severity::note: return DiagnosticSeverity::note;
  }
  return DiagnosticSeverity::error;
}

RunOutcome outcome_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::data_loss: return RunOutcome::bad_input;
    case ErrorCode::not_found:
    case ErrorCode::out_of_memory:
    case ErrorCode::unavailable:
    case ErrorCode::unimplemented: return RunOutcome::environment_unfit;
    case ErrorCode::deadline_exceeded:
    case ErrorCode::aborted: return RunOutcome::lost_rank;
    case ErrorCode::cancelled: return RunOutcome::cancelled;
    case ErrorCode::internal: return RunOutcome::internal_error;
  }
  return RunOutcome::internal_error;
}

RunResult run_result(const run::RunSummary& summary) {
  RunResult result;
  switch (summary.status) {
    case run::RunStatus::finished: result.outcome = RunOutcome::finished; break;
    case run::RunStatus::diverged: result.outcome = RunOutcome::diverged; break;
    case run::RunStatus::preempted: result.outcome = RunOutcome::preempted; break;
    case run::RunStatus::cancelled: result.outcome = RunOutcome::cancelled; break;
  }
  result.message = summary.message;
  result.steps = summary.steps;
  result.resumed_from = summary.resumed_from;
  result.metrics = summary.last_metrics;
  if (summary.last_eval) result.eval = eval_info(*summary.last_eval);
  result.train_seconds = summary.train_seconds;
  return result;
}

Logger logger(const RunCallbacks& callbacks) {
  if (!callbacks.on_message) return {};
  return [&callbacks](LogLevel level, std::string_view text) { callbacks.on_message(message_level(level), text); };
}

run::TrainerCallbacks trainer_callbacks(const RunCallbacks& callbacks) {
  run::TrainerCallbacks trainer;
  if (callbacks.on_step) trainer.on_step = [&](const run::StepReport& report) { callbacks.on_step(step_info(report)); };
  if (callbacks.on_log) trainer.on_log = [&](const run::StepReport& report) { callbacks.on_log(step_info(report)); };
  if (callbacks.on_eval) trainer.on_eval = [&](const run::EvalReport& report) { callbacks.on_eval(eval_info(report)); };
  if (callbacks.on_checkpoint) {
    trainer.on_checkpoint = [&](const run::CheckpointReport& report) { callbacks.on_checkpoint(report.step, report.path); };
  }
  trainer.log = logger(callbacks);
  return trainer;
}

}  // namespace dtj::api
