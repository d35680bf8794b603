#include "engine/launch/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <utility>

#include <gsl/assert>

#include "engine/base/hash.hpp"
#include "engine/launch/cores.hpp"
#include "engine/launch/process.hpp"
#include "engine/monitor/journal.hpp"

namespace dtj::launch {
namespace {

// "a peer was lost", section 9 of the design: such a rank is a victim, not the cause.
constexpr int exit_code_lost_peer = 6;

std::string make_segment_name() {
  std::random_device random;
  const std::uint64_t words[3] = {random(), random(), static_cast<std::uint64_t>(::getpid())};
  return "/dtj-" + to_hex(hash64(words, sizeof words));
}

// Ranks that die before all have joined leave the segment's name behind.
class SegmentName {
 public:
  explicit SegmentName(std::string name) : name_(std::move(name)) {}
  SegmentName(const SegmentName&) = delete;
  SegmentName& operator=(const SegmentName&) = delete;
  ~SegmentName() { ::shm_unlink(name_.c_str()); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

std::vector<std::vector<int>> assign_cores(const LocalLaunch& launch, const Logger& log) {
  if (!launch.bind_cores) return {};
  const std::vector<int> cores = allowed_cores();
  auto sets = divide_cores(cores, launch.world_size, launch.threads_per_rank);
  if (sets.empty() && log) {
    log(LogLevel::warning,
        fmt::format("threads are not pinned: {} ranks x {} threads need more than the {} cores that this "
                    "process may use",
                    launch.world_size, launch.threads_per_rank, cores.size()));
  }
  return sets;
}

std::string describe_exit(const RankExit& exit) {
  if (!exit.signal) return fmt::format("rank {} ended with exit code {}", exit.rank, exit.exit_code.value_or(0));
  const char* name = ::sigabbrev_np(*exit.signal);
  return fmt::format("rank {} was killed by {}", exit.rank,
                     name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", *exit.signal));
}

// " at step 37 (micro) in all_reduce `bucket 0`", or "" when there is no journal.
std::string describe_journal(const std::string& run_dir, std::int64_t rank) {
  const auto entry = monitor::read_journal(fmt::format("{}/journal-{}", run_dir, rank));
  if (!entry) return "";
  std::string text;
  if (entry->step >= 0) text += fmt::format(" at step {}", entry->step);
  if (!entry->phase.empty()) text += fmt::format(" ({})", entry->phase);
  if (entry->waiting) {
    text += fmt::format(" in collective {} `{}`", entry->sequence, entry->collective);
  } else if (!entry->label.empty()) {
    text += fmt::format(" in `{}`", entry->label);
  }
  return text;
}

bool failed(const RankExit& exit) {
  return exit.signal || exit.exit_code.value_or(0) != 0;
}

class Supervisor {
 public:
  Supervisor(const LocalLaunch& launch, std::vector<ChildProcess> children)
      : launch_(launch), children_(std::move(children)) {
    for (std::int64_t rank = 0; rank < launch.world_size; ++rank) exits_.push_back({rank, {}, {}, false});
  }

  LaunchReport run() {
    while (num_running() > 0) {
      forward_stop_request();
      enforce_deadlines();
      wait_for_any(children_, std::chrono::milliseconds(20));
      collect();
    }
    LaunchReport report;
    report.ranks = exits_;
    report.first_failed = first_failed_;
    if (first_failed_) {
      report.message = describe_exit(exits_[static_cast<std::size_t>(*first_failed_)]) +
                       describe_journal(launch_.run_dir, *first_failed_);
    }
    return report;
  }

 private:
  std::int64_t num_running() const {
    return std::count_if(children_.begin(), children_.end(), [](const auto& child) { return child.is_running(); });
  }

  void signal_all(int signal) {
    for (const ChildProcess& child : children_) child.send_signal(signal);
  }

  void forward_stop_request() {
    if (stop_sent_ || launch_.stop_request == nullptr || launch_.stop_request->load() == 0) return;
    stop_sent_ = true;
    signal_all(SIGTERM);
  }

  // After a rank has failed: a moment for the others to see it by themselves and to say why, SIGTERM, grace, SIGKILL.
  void enforce_deadlines() {
    const auto now = Clock::now();
    if (terminate_at_ && now >= *terminate_at_) {
      terminate_at_.reset();
      stopping_ = true;
      signal_all(SIGTERM);
      kill_at_ = now + launch_.kill_grace;
    }
    if (kill_at_ && now >= *kill_at_) {
      kill_at_.reset();
      killing_ = true;
      signal_all(SIGKILL);
    }
  }

  void collect() {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const auto status = children_[i].poll();
      if (!status) continue;
      RankExit& exit = exits_[i];
      exit.exit_code = status->exit_code;
      exit.signal = status->signal;
      exit.killed_by_launcher =
          (exit.signal == SIGTERM && (stopping_ || stop_sent_)) || (exit.signal == SIGKILL && killing_);
      if (failed(exit) && !exit.killed_by_launcher) note_failure(exit);
    }
  }

  void note_failure(const RankExit& exit) {
    if (!first_failed_ || (!stopping_ && is_better_cause(exit, exits_[static_cast<std::size_t>(*first_failed_)]))) {
      first_failed_ = exit.rank;
    }
    if (stopping_) return;
    // A killed rank says nothing to its peers; one that exits has told them.
    const Duration settle = exit.signal ? Duration(0) : std::min<Duration>(std::chrono::seconds(2), launch_.kill_grace);
    const auto at = Clock::now() + settle;
    terminate_at_ = terminate_at_ ? std::min(*terminate_at_, at) : at;
  }

  // Failures arrive within moments of each other, and the one seen first need not be the first.
  static bool is_better_cause(const RankExit& exit, const RankExit& known) {
    const auto weight = [](const RankExit& e) { return e.signal ? 2 : e.exit_code == exit_code_lost_peer ? 0 : 1; };
    return weight(exit) > weight(known);
  }

  const LocalLaunch& launch_;
  std::vector<ChildProcess> children_;
  std::vector<RankExit> exits_;
  std::optional<std::int64_t> first_failed_;
  bool stop_sent_ = false;
  bool stopping_ = false;  ///< a rank failed and the others got SIGTERM
  bool killing_ = false;   ///< ... and SIGKILL
  std::optional<Deadline> terminate_at_;
  std::optional<Deadline> kill_at_;
};

}  // namespace

Result<LaunchReport> launch_local(const LocalLaunch& launch, const Logger& log) {
  Expects(!launch.command.empty() && launch.world_size >= 1 && launch.threads_per_rank >= 1);
  const SegmentName segment(make_segment_name());
  const auto cores = assign_cores(launch, log);
  std::vector<ChildProcess> children;
  for (std::int64_t rank = 0; rank < launch.world_size; ++rank) {
    RankEnvironment environment{rank, launch.world_size, rank, launch.plan_path, segment.name(), launch.run_dir, {}};
    if (!cores.empty()) environment.cores = cores[static_cast<std::size_t>(rank)];
    // On an error the ranks that run already are killed with `children`.
    auto child = ChildProcess::start(launch.command, rank_variables(environment), environment.cores);
    if (!child) return fail_with(std::move(child.error()), fmt::format("rank {}", rank));
    children.push_back(std::move(*child));
  }
  return Supervisor(launch, std::move(children)).run();
}

}  // namespace dtj::launch
