#include <atomic>
#include <csignal>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "commands.hpp"
#include "progress.hpp"

namespace dtjc {

namespace {

struct RunArguments {
  bool no_resume = false;
  std::string metrics;
  std::int64_t max_steps = 0;

  void add_to(CLI::App& command) {
    command.add_flag("--no-resume", no_resume, "start anew; a checkpoint folder that holds a run already is refused");
    command.add_option("--metrics", metrics, "append one JSON object per log line to this file")->type_name("FILE");
    command.add_option("--max-steps", max_steps, "stop after this step")->check(CLI::NonNegativeNumber);
  }

  dtj::RunOptions options(const std::atomic<int>& stop_request) const {
    dtj::RunOptions options;
    options.resume = !no_resume;
    options.metrics_path = metrics;
    options.max_steps = max_steps;
    options.stop_request = &stop_request;
    return options;
  }

  std::vector<std::string> rank_command() const {
    std::vector<std::string> command{"/proc/self/exe"};
    if (no_resume) command.emplace_back("--no-resume");
    if (!metrics.empty()) command.insert(command.end(), {"--metrics", metrics});
    if (max_steps > 0) command.insert(command.end(), {"--max-steps", std::to_string(max_steps)});
    return command;
  }
};

constexpr int stop_with_checkpoint = 2;

// Signal handlers may only touch lock-free atomics.
std::atomic<int> stop_request{0};
std::atomic<bool> was_interrupted{false};
static_assert(std::atomic<int>::is_always_lock_free);

// The first signal asks for a checkpoint at the next step boundary, a second interrupt ends the process.
void on_signal(int signal) {
  if (signal == SIGINT && was_interrupted.exchange(true)) _exit(exit_interrupted);
  stop_request.store(stop_with_checkpoint);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

/// The end of a job and the loss of the terminal. Whoever starts dtjc under nohup wants it to go on.
void handle_ends() {
  handle(SIGTERM, on_signal);
  struct sigaction inherited = {};
  sigaction(SIGHUP, nullptr, &inherited);
  if (inherited.sa_handler != SIG_IGN) handle(SIGHUP, on_signal);
}

int report(const dtj::RunResult& result) {
  if (result.outcome != dtj::RunOutcome::finished) {
    fmt::print(stderr, "dtjc run: {}\n", result.message);
    return was_interrupted && result.outcome == dtj::RunOutcome::preempted ? exit_interrupted : exit_code(result.outcome);
  }
  std::string text = fmt::format("{}: {} steps in {:.1f} s", result.job, result.steps, result.train_seconds);
  if (result.resumed_from > 0) text += fmt::format(" (resumed at step {})", result.resumed_from);
  if (result.eval) {
    for (const auto& [name, value] : result.eval->metrics) text += fmt::format(", {} {:.4f}", name, value);
    if (result.eval->goal_met) text += ", goal met";
  }
  fmt::print(stderr, "{}\n", text);
  const bool is_said = result.eval && result.eval->goal_met;
  if (!result.message.empty() && !is_said) fmt::print(stderr, "{}\n", result.message);
  return exit_ok;
}

int run_here(const dtj::Compilation& compilation, const RunArguments& arguments) {
  Progress progress(compilation.job_name());
  const dtj::RunResult result = dtj::run_job(compilation, arguments.options(stop_request), progress.callbacks());
  progress.finish();
  return report(result);
}

int run_ranks(const dtj::Compilation& compilation, const RunArguments& arguments) {
  dtj::LaunchOptions options;
  options.rank_command = arguments.rank_command();
  options.stop_request = &stop_request;
  dtj::RunCallbacks callbacks;
  callbacks.on_message = [](dtj::MessageLevel level, std::string_view text) {
    if (level == dtj::MessageLevel::warning || level == dtj::MessageLevel::error) fmt::print(stderr, "dtjc run: {}\n", text);
  };
  const dtj::LaunchResult result = dtj::launch_job(compilation, options, callbacks);
  if (result.outcome == dtj::RunOutcome::finished) return exit_ok;
  if (!result.message.empty()) fmt::print(stderr, "dtjc run: {}\n", result.message);
  return was_interrupted && result.outcome == dtj::RunOutcome::preempted ? exit_interrupted : exit_code(result.outcome);
}

int run(const JobArguments& job, const RunArguments& arguments) {
  const auto compilation = dtj::Compilation::from_file(job.path, dtj::Compilation::Stage::plan, job.options());
  if (has_errors(compilation)) return compile_job(compilation);
  if (const ExitCode code = report_obstacles(compilation, "run"); code != exit_ok) return code;
  if (const ExitCode code = compile_job(compilation); code != exit_ok) return code;
  // Until here there is nothing to save.
  handle(SIGINT, on_signal);
  handle_ends();
  return compilation.world_size() == 1 ? run_here(compilation, arguments) : run_ranks(compilation, arguments);
}

}  // namespace

int run_as_rank(int argc, char** argv) {
  // A terminal sends its interrupt to every process of the group; ranks wait for the launcher's word.
  handle(SIGINT, SIG_IGN);
  handle_ends();
  CLI::App app{"one rank of a job", "dtjc"};
  RunArguments arguments;
  arguments.add_to(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return exit_usage;
  }
  const std::int64_t rank = dtj::process_rank().value_or(0);
  Progress progress("training");
  dtj::RunCallbacks callbacks;
  if (rank == 0) callbacks = progress.callbacks();  // the reports are the same on every rank
  const dtj::RunResult result = dtj::run_rank(arguments.options(stop_request), callbacks);
  progress.finish();
  if (result.outcome == dtj::RunOutcome::finished && rank != 0) return exit_ok;
  if (result.outcome == dtj::RunOutcome::finished) return report(result);
  return exit_code(result.outcome);  // the launcher says why, once for all ranks
}

void add_run(CLI::App& app, int& code) {
  auto job = std::make_shared<JobArguments>();
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "compile a job and train it on its ranks");
  job->add_to(*command);
  arguments->add_to(*command);
  command->callback([job, arguments, &code] { code = run(*job, *arguments); });
}

}  // namespace dtjc
