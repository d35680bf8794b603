#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The public API of dtj: compile a job, read its diagnostics and plan, run one rank. Nothing here throws, exits, prints,
// or installs a signal handler.

#define DTJ_API __attribute__((visibility("default")))

namespace dtj {

struct Failure {
  std::string code;  ///< "not_found", ...
  std::string message;
};

enum class DiagnosticSeverity { error, warning, note };

struct DiagnosticInfo {
  std::string code;  ///< "E101"
  DiagnosticSeverity severity = DiagnosticSeverity::error;
  std::string message;
  std::string file;
  std::int32_t line = 0, column = 0, end_line = 0, end_column = 0;  ///< 1-based bytes, end exclusive
  std::vector<std::string> helps;
};

struct CompileOptions {
  std::map<std::string, std::string> bindings;  ///< placeholder (without brackets) -> value
  std::string job;                              ///< "" = the only job of the file
  std::vector<std::string> import_dirs;         ///< that imports may read beside the folder of the file
  std::string site_profile;                     ///< a file with values of placeholders; "" = none
  std::string site;                             ///< one of its sites; "" = its default
  std::string print_after;                      ///< a pass name, or "all": the IR goes to `on_print`
  std::string stop_after;
  std::function<void(std::string_view stage, const std::string& text)> on_print;
  int num_threads = 2;
};

struct PlaceholderState {
  std::string name, type, help;
  std::optional<std::string> value;
};

/// One compiled job, or what is wrong with it.
class DTJ_API Compilation {
 public:
  enum class Stage { check, lower, plan };

  /// A file that cannot be read is a diagnostic too.
  static Compilation from_file(const std::string& path, Stage until, const CompileOptions& options);
  static Compilation from_text(std::string name, std::string text, Stage until, const CompileOptions& options);
  Compilation(Compilation&&) noexcept;
  Compilation& operator=(Compilation&&) noexcept;
  ~Compilation();

  /// No errors, and the stage was reached.
  bool ok() const;
  /// The compiler itself failed: a bug of ours, not a mistake in the job.
  bool is_internal_error() const;
  const std::vector<DiagnosticInfo>& diagnostics() const;
  std::string render_text(bool colour) const;
  std::string render_json() const;
  /// What the job asks for and this edition does not carry out; not empty: the job cannot run.
  std::vector<std::string> limits() const;
  /// Declared placeholders; those without a value keep the job from running.
  std::vector<PlaceholderState> placeholders() const;
  /// Summary of the plan: world size, parameters, bytes per rank by class, collectives, arena peaks, steps.
  std::string plan_text() const;
  std::string plan_json() const;
  /// "" when the job could not be checked.
  std::string job_name() const;
  /// Ranks of the launch contract; 0 when the job could not be checked.
  std::int64_t world_size() const;
  /// The plan in its file form.
  std::optional<Failure> save_plan(const std::string& path) const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit Compilation(std::unique_ptr<Impl> impl);
  static std::unique_ptr<Impl> compile(std::string path, std::optional<std::string> text, Stage until,
                                       const CompileOptions& options);
  std::unique_ptr<Impl> impl_;
};

enum class MessageLevel { debug, info, warning, error };

struct StepInfo {
  std::int64_t step = 0, total_steps = 0;
  double epoch = 0;
  std::map<std::string, double> metrics;
  double gradient_norm = 0, learning_rate = 0, samples_per_second = 0, tokens_per_second = 0;
  double seconds_data = 0, seconds_compute = 0, seconds_communication = 0, seconds_other = 0;
};

struct EvalInfo {
  std::int64_t step = 0;
  std::map<std::string, double> metrics;
  std::int64_t num_samples = 0;
  bool goal_met = false;
};

struct RunCallbacks {
  std::function<void(const StepInfo&)> on_step, on_log;
  std::function<void(const EvalInfo&)> on_eval;
  std::function<void(std::int64_t step, const std::string& path)> on_checkpoint;
  std::function<void(MessageLevel, std::string_view)> on_message;
};

enum class RunOutcome { finished, diverged, preempted, cancelled, lost_rank, environment_unfit, bad_input, internal_error };

struct RunOptions {
  bool resume = true;
  std::string metrics_path;
  std::int64_t max_steps = 0;                      ///< 0 = as the job says
  const std::atomic<int>* stop_request = nullptr;  ///< 1 = cancel, 2 = checkpoint and stop
};

struct RunResult {
  RunOutcome outcome = RunOutcome::finished;
  std::string job;
  std::string message;
  std::int64_t steps = 0, resumed_from = 0;
  std::map<std::string, double> metrics;
  std::optional<EvalInfo> eval;
  double train_seconds = 0;
};

/// Runs a single-rank plan in this process.
DTJ_API RunResult run_job(const Compilation& compilation, const RunOptions& options, const RunCallbacks& callbacks);

/// Runs this process as one rank of a job that `launch_job` started. Exit codes are the host's business.
DTJ_API RunResult run_rank(const RunOptions& options, const RunCallbacks& callbacks);
/// This process's rank when the environment says that `launch_job` started it.
DTJ_API std::optional<std::int64_t> process_rank();

struct LaunchOptions {
  std::vector<std::string> rank_command;  ///< argv of a process that calls `run_rank`
  std::string run_dir;                    ///< scratch; "" = a private folder under the system's temporary folder
  const std::atomic<int>* stop_request = nullptr;
};

struct LaunchResult {
  RunOutcome outcome = RunOutcome::finished;
  std::string message;
};

/// Starts all ranks of a `method = local` job as processes of this host and waits for them.
DTJ_API LaunchResult launch_job(const Compilation& compilation, const LaunchOptions& options, const RunCallbacks& callbacks);

DTJ_API std::string_view version();

}  // namespace dtj
