#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/api/convert.hpp"
#include "compiler/api/run_folder.hpp"
#include "compiler/api/compilation.hpp"
#include "compiler/codegen/host/kernel_compiler.hpp"
#include "dtj/dtj.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/device/device.hpp"
#include "engine/launch/launch.hpp"
#include "engine/monitor/journal.hpp"
#include "engine/plan/serialize.hpp"
#include "engine/run/trainer.hpp"

namespace dtj {

namespace {

RunResult failed(const Error& error) {
  RunResult result;
  result.outcome = api::outcome_of(error.code);
  result.message = error.to_string();
  return result;
}

/// What this build can start on this machine. The checker accepts more: a job is written for the machine it will run on.
std::optional<std::string> why_not_here(const LaunchSpec& launch) {
  if (launch.method != LaunchMethod::local || launch.nodes != 1) return "only jobs with `method = local` on one node can be started here";
  if (launch.device == DeviceKind::cuda) return "this build has no GPU ranks: write `device = cpu` or `device = auto`";
  return std::nullopt;
}

struct RankParts {
  const plan::ExecutionPlan& plan;
  std::unique_ptr<device::Device> device;
  comm::Communicator& communicator;
  monitor::Journal* journal = nullptr;
};

RunResult train(const RankParts& rank, const RunOptions& options, const RunCallbacks& callbacks) {
  auto loader = codegen::make_host_kernel_loader();
  if (!loader) return failed(loader.error());
  run::TrainerOptions trainer_options;
  trainer_options.resume = options.resume;
  trainer_options.metrics_path = options.metrics_path;
  trainer_options.stop_request = options.stop_request;
  if (options.max_steps > 0) trainer_options.max_steps = options.max_steps;
  auto summary = run::train(rank.plan, *rank.device, rank.communicator, **loader, rank.journal, trainer_options,
                            api::trainer_callbacks(callbacks));
  if (!summary) {
    // The others must not wait for a rank that is gone.
    rank.communicator.abort(summary.error().to_string());
    return failed(summary.error());
  }
  return api::run_result(*summary);
}

device::HostDeviceOptions device_options(const JobSpec& job, std::vector<int> cores) {
  device::HostDeviceOptions options;
  options.num_threads = int(job.launch.threads_per_rank);
  options.cores = std::move(cores);
  return options;
}

std::string result_path(const std::string& run_dir, std::int64_t rank) { return fmt::format("{}/result-{}.json", run_dir, rank); }

/// What a rank tells the launcher about its end. A rank that was killed leaves none.
void write_result(const std::string& run_dir, std::int64_t rank, const RunResult& result) {
  const nlohmann::json json = {{"outcome", int(result.outcome)}, {"message", result.message}};
  std::ofstream(result_path(run_dir, rank)) << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<LaunchResult> read_result(const std::string& run_dir, std::int64_t rank) {
  std::ifstream in(result_path(run_dir, rank));
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object() || !json.contains("outcome") || !json["outcome"].is_number_integer()) return std::nullopt;
  const int outcome = json["outcome"].get<int>();
  if (outcome < 0 || outcome > int(RunOutcome::internal_error)) return std::nullopt;
  return LaunchResult{RunOutcome(outcome), json.value("message", "")};
}

/// The end of the job: that of the rank which failed by itself, or of rank 0.
LaunchResult conclude(const std::string& run_dir, const launch::LaunchReport& report) {
  bool all_finished = true;
  for (const launch::RankExit& rank : report.ranks) all_finished = all_finished && rank.exit_code == 0;
  if (all_finished) {
    for (const launch::RankExit& rank : report.ranks) {
      if (read_result(run_dir, rank.rank)) continue;
      return {RunOutcome::bad_input, fmt::format("rank {} ended without a result: `rank_command` must call run_rank", rank.rank)};
    }
    return {};
  }
  // A rank with a reason of its own explains more than one that lost its peers. A reason that all share is given once.
  std::optional<LaunchResult> found;
  std::int64_t found_rank = 0;
  bool is_shared = true;
  for (const launch::RankExit& rank : report.ranks) {
    const auto result = read_result(run_dir, rank.rank);
    if (!result || result->outcome == RunOutcome::finished || result->outcome == RunOutcome::lost_rank) {
      is_shared = false;
      continue;
    }
    is_shared = is_shared && (!found || found->message == result->message);
    if (found) continue;
    found = result;
    found_rank = rank.rank;
  }
  if (found && !is_shared) found->message = fmt::format("rank {}: {}", found_rank, found->message);
  const bool killed = report.first_failed && report.ranks[std::size_t(*report.first_failed)].signal.has_value();
  if (found && !killed) return *found;
  return {RunOutcome::lost_rank, report.message};
}

RunResult run_rank_in(const launch::RankEnvironment& environment, const RunOptions& options, const RunCallbacks& callbacks) {
  auto plan = plan::load_file(environment.plan_path);
  if (!plan) return failed(plan.error());
  if (plan->job.launch.world_size() != environment.world_size) {
    return failed({ErrorCode::invalid_argument,
                   fmt::format("the launcher started {} ranks, but the plan is for {}", environment.world_size,
                               plan->job.launch.world_size()),
                   {}});
  }
  auto journal = monitor::create_journal(fmt::format("{}/journal-{}", environment.run_dir, environment.rank));
  if (!journal) return failed(journal.error());
  comm::ShmOptions shm;
  shm.segment = environment.shm_segment;
  shm.rank = Rank{std::uint32_t(environment.rank)};
  shm.world_size = environment.world_size;
  shm.timeout = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(plan->job.launch.collective_timeout_seconds));
  auto communicator = comm::make_shm_communicator(shm);
  if (!communicator) return failed(communicator.error());
  auto device = device::make_host_device(device_options(plan->job, environment.cores));
  if (!device) {
    (*communicator)->abort(device.error().to_string());
    return failed(device.error());
  }
  RunResult result =
      train(RankParts{*plan, std::move(*device), **communicator, journal->get()}, options, callbacks);
  result.job = plan->job.name;
  return result;
}

}  // namespace

RunResult run_job(const Compilation& compilation, const RunOptions& options, const RunCallbacks& callbacks) {
  const auto& plan = compilation.impl().plan();
  if (!plan) return failed({ErrorCode::invalid_argument, "the job has no plan: compile it to Stage::plan without errors", {}});
  if (plan->job.launch.world_size() != 1) {
    return failed({ErrorCode::invalid_argument,
                   fmt::format("the job has {} ranks: start it with launch_job", plan->job.launch.world_size()), {}});
  }
  if (auto reason = why_not_here(plan->job.launch)) return failed({ErrorCode::unavailable, *std::move(reason), {}});
  if (const auto obstacle = compilation.impl().obstacle()) return failed({ErrorCode::unavailable, *obstacle, {}});
  auto device = device::make_host_device(device_options(plan->job, {}));
  if (!device) return failed(device.error());
  const auto communicator = comm::make_self_communicator();
  RunResult result = train(RankParts{*plan, std::move(*device), *communicator}, options, callbacks);
  result.job = plan->job.name;
  return result;
}

std::optional<std::int64_t> process_rank() {
  const auto environment = launch::read_rank_environment();
  // A malformed environment makes this a rank too: run_rank says what is wrong with it.
  if (!environment) return 0;
  if (!*environment) return std::nullopt;
  return (*environment)->rank;
}

RunResult run_rank(const RunOptions& options, const RunCallbacks& callbacks) {
  const auto environment = launch::read_rank_environment();
  if (!environment) return failed(environment.error());
  if (!*environment) {
    return failed({ErrorCode::invalid_argument, "this process was not started as a rank: DTJ_RANK is not set", {}});
  }
  RunResult result = run_rank_in(**environment, options, callbacks);
  write_result((*environment)->run_dir, (*environment)->rank, result);
  return result;
}

LaunchResult launch_job(const Compilation& compilation, const LaunchOptions& options, const RunCallbacks& callbacks) {
  const auto& plan = compilation.impl().plan();
  if (!plan) return {RunOutcome::bad_input, "the job has no plan: compile it to Stage::plan without errors"};
  if (options.rank_command.empty()) return {RunOutcome::bad_input, "`rank_command` is empty: name a program that calls run_rank"};
  if (auto reason = why_not_here(plan->job.launch)) return {RunOutcome::environment_unfit, *std::move(reason)};
  if (const auto obstacle = compilation.impl().obstacle()) return {RunOutcome::environment_unfit, *obstacle};
  const auto folder = api::RunFolder::make(options.run_dir);
  if (!folder) return {RunOutcome::environment_unfit, folder.error().to_string()};
  const std::string plan_path = folder->path() + "/plan";
  if (const auto saved = plan::save_file(*plan, plan_path); !saved) {
    return {RunOutcome::environment_unfit, saved.error().to_string()};
  }
  launch::LocalLaunch local;
  local.command = options.rank_command;
  local.world_size = plan->job.launch.world_size();
  local.threads_per_rank = plan->job.launch.threads_per_rank;
  local.bind_cores = plan->job.launch.bind_cores;
  local.plan_path = plan_path;
  local.run_dir = folder->path();
  local.stop_request = options.stop_request;
  const auto report = launch::launch_local(local, api::logger(callbacks));
  if (!report) return {api::outcome_of(report.error().code), report.error().to_string()};
  return conclude(folder->path(), *report);
}

}  // namespace dtj
