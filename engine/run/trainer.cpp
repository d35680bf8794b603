#include "engine/run/trainer.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/run/reporter.hpp"
#include "engine/run/session.hpp"

namespace dtj::run {
namespace {

/// What all ranks do at a step boundary; decided together, because each sees signals and clocks at another time.
struct Boundary {
  bool cancel = false;
  bool preempt = false;
  bool save = false;  ///< a time interval between checkpoints is over
  bool time_is_up = false;
  bool walltime_is_over = false;
};

class Loop {
 public:
  explicit Loop(Session& session)
      : session_(session),
        reporter_(session),
        eval_every_(session.eval.dataset ? Intervals({session.job().eval->every}, session.step_size) : Intervals()) {}

  Result<RunSummary> run() {
    while (!is_at_end()) {
      DTJ_TRY_ASSIGN(const Boundary boundary, decide());
      const char* reason = boundary.walltime_is_over ? "the walltime is over" : "stopped on request";
      if ((boundary.preempt || boundary.walltime_is_over) && saves_on_signal()) {
        DTJ_TRY(save_unless_saved());
        return finish(RunStatus::preempted, fmt::format("{}; checkpoint of step {} is written", reason, session_.step));
      }
      if (boundary.cancel || boundary.preempt || boundary.walltime_is_over) return finish(RunStatus::cancelled, reason);
      if (boundary.time_is_up) break;
      if (boundary.save) DTJ_TRY(save_unless_saved());
      DTJ_TRY_ASSIGN(const std::optional<std::string> divergence, train_step());
      if (divergence) return finish(RunStatus::diverged, *divergence);
      if (eval_every_.is_due_at(session_.step)) DTJ_TRY(evaluate_now());
      if (session_.checkpoint_every.is_due_at(session_.step)) DTJ_TRY(save_unless_saved());
    }
    // A probe that stops early is not the end of the job.
    const bool is_evaluated = last_eval_ && last_eval_->step == session_.step;
    if (session_.eval.dataset && !is_evaluated && !is_cut_short()) DTJ_TRY(evaluate_now());
    if (session_.job().checkpoint) DTJ_TRY(save_unless_saved());
    return finish(RunStatus::finished, describe_goal());
  }

 private:
  bool is_at_end() const { return session_.total_steps && session_.step >= *session_.total_steps; }

  bool is_cut_short() const {
    const auto whole = to_steps(session_.job().train.stop, session_.step_size);
    return session_.options.max_steps && session_.step >= *session_.options.max_steps &&
           (!whole || session_.step < *whole);
  }

  bool saves_on_signal() const { return session_.job().checkpoint && session_.job().checkpoint->on_signal; }

  Result<Boundary> decide() {
    const std::atomic<int>* request = session_.options.stop_request;
    const int asked = request == nullptr ? 0 : request->load(std::memory_order_relaxed);
    std::array<std::int32_t, 5> votes{asked == static_cast<int>(StopRequest::cancel),
                                      asked == static_cast<int>(StopRequest::preempt), 0, 0, 0};
    if (session_.peers.is_first()) {
      const Progress& stop = session_.job().train.stop;
      const double trained = session_.earlier_seconds + seconds_since(session_.start);
      votes[2] = session_.checkpoint_every.is_due_after(seconds_since(session_.last_save));
      votes[3] = stop.unit == ProgressUnit::time && trained >= stop.amount;
      const std::optional<double>& walltime = session_.job().launch.walltime_seconds;
      votes[4] = walltime && seconds_since(session_.start) >= *walltime;
    }
    if (session_.peers.world_size() > 1) {
      DTJ_TRY(session_.peers.communicator().all_reduce(votes.data(), 5, DType::i32));
    }
    return Boundary{votes[0] != 0, votes[1] != 0, votes[2] != 0, votes[3] != 0, votes[4] != 0};
  }

  const plan::Program& micro_program(std::int64_t micro, std::int64_t num_micro) const {
    const plan::ExecutionPlan& plan = session_.plan;
    if (num_micro == 1) return plan.micro_only;
    if (micro == 0) return plan.micro_first;
    return micro + 1 == num_micro ? plan.micro_last : plan.micro_middle;
  }

  /// What random numbers are drawn for: the same number for a sample whichever rank and micro batch it is in.
  void write_sample_number(std::int64_t micro) {
    if (!session_.plan.ports.sample) return;
    const std::int64_t rank = session_.peers.communicator().rank().value;
    const std::int64_t number =
        session_.step * session_.step_size.samples + session_.train.sampler->position(0, micro, rank);
    std::memcpy(session_.executor->data(*session_.plan.ports.sample), &number, sizeof number);
  }

  /// A message when the numbers are no longer finite.
  Result<std::optional<std::string>> train_step() {
    const auto start = Clock::now();
    StepTime time;
    time.num_steps = 1;
    session_.executor->take_time_split();
    const std::int64_t number = session_.step + 1;  // as reports and messages count
    const std::int64_t num_micro = session_.train.sampler->num_micro_batches();
    for (std::int64_t micro = 0; micro < num_micro; ++micro) {
      session_.enter("data", number);
      const auto data_start = Clock::now();
      DTJ_TRY(feed_micro_batch(session_.train));
      time.data += seconds_since(data_start);
      write_sample_number(micro);
      session_.enter("micro", number);
      DTJ_TRY(session_.executor->run(micro_program(micro, num_micro)));
    }
    if (auto bad = read_metrics()) return bad;
    session_.enter("update", number);
    if (session_.plan.ports.step) {
      const auto step = static_cast<double>(session_.step);
      std::memcpy(session_.executor->data(*session_.plan.ports.step), &step, sizeof step);
    }
    DTJ_TRY(session_.executor->run(session_.plan.update));
    const double norm = read_scalar(session_.plan.ports.gradient_norm);
    if (!std::isfinite(norm)) return std::optional(describe_divergence("gradient norm", norm));
    session_.last_learning_rate = read_scalar(session_.plan.ports.learning_rate);
    ++session_.step;
    const TimeSplit split = session_.executor->take_time_split();
    time.compute = split.compute;
    time.communication = split.communication;
    time.total = seconds_since(start);
    DTJ_TRY(reporter_.report(time, norm));
    return std::optional<std::string>();
  }

  /// Before the update, so that the parameters stay as they were when the loss is not finite.
  std::optional<std::string> read_metrics() {
    std::optional<std::string> divergence;
    const auto weight_metric = session_.job().weight_metric();
    const auto& ports = session_.plan.ports.train_metrics;
    const double weight = weight_metric ? std::max(read_scalar(ports[*weight_metric]), 1e-30) : 1.0;
    for (std::size_t i = 0; i < session_.job().metrics.size(); ++i) {
      const std::string& name = session_.job().metrics[i];
      const double value = read_scalar(ports[i]) / (i == weight_metric ? 1.0 : weight);
      session_.last_metrics[name] = value;
      if (!std::isfinite(value) && !divergence) divergence = describe_divergence(name, value);
    }
    return divergence;
  }

  std::string describe_divergence(const std::string& what, double value) const {
    // Not a number has a sign, which tells nothing.
    const std::string number = std::isnan(value) ? "nan" : fmt::format("{}", value);
    return fmt::format("training diverged: `{}` is {} at step {}", what, number, session_.step + 1);
  }

  double read_scalar(std::optional<plan::BufferId> port) const {
    float value = 0;
    if (port) std::memcpy(&value, session_.executor->data(*port), sizeof value);
    return value;
  }

  Status evaluate_now() {
    DTJ_TRY_ASSIGN(last_eval_, evaluate(session_));
    return {};
  }

  Status save_unless_saved() { return session_.saved_step == session_.step ? Status() : save_checkpoint(session_); }

  std::string describe_goal() const {
    if (!last_eval_ || !session_.job().eval->goal) return "";
    const GoalSpec& goal = *session_.job().eval->goal;
    const char* sign = goal.comparison == Comparison::less_equal ? "<=" : ">=";
    const auto value = last_eval_->metrics.find(goal.metric);
    return fmt::format("goal {} {} {} {}: {} = {:.6g}", goal.metric, sign, goal.value,
                       last_eval_->goal_met ? "met" : "not met", goal.metric,
                       value == last_eval_->metrics.end() ? std::nan("") : value->second);
  }

  Result<RunSummary> finish(RunStatus status, std::string message) {
    session_.enter("end");
    // No rank leaves while another still needs it.
    DTJ_TRY(session_.peers.communicator().barrier());
    RunSummary summary;
    summary.status = status;
    summary.steps = session_.step;
    summary.resumed_from = session_.resumed_from;
    summary.last_metrics = session_.last_metrics;
    summary.last_eval = last_eval_;
    summary.train_seconds = seconds_since(session_.start);
    summary.message = std::move(message);
    return summary;
  }

  Session& session_;
  Reporter reporter_;
  Intervals eval_every_;
  std::optional<EvalReport> last_eval_;
};

Result<RunSummary> run_session(Session& session, device::Device& device, device::KernelLoader& loader) {
  DTJ_TRY(open_session(session, device, loader));
  DTJ_TRY(start_or_resume(session));
  session.start = session.last_save = Clock::now();
  return Loop(session).run();
}

}  // namespace

Result<RunSummary> train(const plan::ExecutionPlan& plan, device::Device& device, comm::Communicator& communicator,
                         device::KernelLoader& loader, monitor::Journal* journal, const TrainerOptions& options,
                         const TrainerCallbacks& callbacks) {
  Session session{plan, Peers(communicator), journal, options, callbacks};
  auto summary = run_session(session, device, loader);
  if (!summary) session.peers.abort_unless_agreed(summary.error());
  return summary;
}

}  // namespace dtj::run
