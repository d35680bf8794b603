#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "engine/launch/launch.hpp"
#include "engine/launch/process.hpp"

namespace dtj::launch {
namespace {

Result<std::string> read_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("this process has DTJ_RANK in its environment, but no {}", name));
  }
  return std::string(value);
}

Result<std::int64_t> parse_number(const char* name, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}=`{}` in the environment is not a number", name, text));
  }
  return number;
}

Result<std::int64_t> read_number(const char* name) {
  DTJ_TRY_ASSIGN(const std::string text, read_variable(name));
  return parse_number(name, text);
}

Result<std::vector<int>> read_cores() {
  DTJ_TRY_ASSIGN(const std::string text, read_variable("DTJ_CORES"));
  std::vector<int> cores;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    DTJ_TRY_ASSIGN(const std::int64_t core, parse_number("DTJ_CORES", rest.substr(0, comma)));
    cores.push_back(static_cast<int>(core));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return cores;
}

}  // namespace

Result<std::optional<RankEnvironment>> read_rank_environment() {
  if (std::getenv("DTJ_RANK") == nullptr) return std::optional<RankEnvironment>();
  RankEnvironment environment;
  DTJ_TRY_ASSIGN(environment.rank, read_number("DTJ_RANK"));
  DTJ_TRY_ASSIGN(environment.world_size, read_number("DTJ_WORLD_SIZE"));
  DTJ_TRY_ASSIGN(environment.local_rank, read_number("DTJ_LOCAL_RANK"));
  DTJ_TRY_ASSIGN(environment.plan_path, read_variable("DTJ_PLAN"));
  DTJ_TRY_ASSIGN(environment.shm_segment, read_variable("DTJ_SHM"));
  DTJ_TRY_ASSIGN(environment.run_dir, read_variable("DTJ_RUN_DIR"));
  DTJ_TRY_ASSIGN(environment.cores, read_cores());
  if (environment.rank >= environment.world_size) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("DTJ_RANK={} in the environment is not below DTJ_WORLD_SIZE={}", environment.rank,
                            environment.world_size));
  }
  return std::optional(std::move(environment));
}

std::vector<std::string> rank_variables(const RankEnvironment& environment) {
  return {fmt::format("DTJ_RANK={}", environment.rank),
          fmt::format("DTJ_WORLD_SIZE={}", environment.world_size),
          fmt::format("DTJ_LOCAL_RANK={}", environment.local_rank),
          fmt::format("DTJ_PLAN={}", environment.plan_path),
          fmt::format("DTJ_SHM={}", environment.shm_segment),
          fmt::format("DTJ_RUN_DIR={}", environment.run_dir),
          fmt::format("DTJ_CORES={}", fmt::join(environment.cores, ","))};
}

}  // namespace dtj::launch
