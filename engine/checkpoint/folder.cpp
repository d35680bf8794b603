#include "engine/checkpoint/folder.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "engine/checkpoint/file.hpp"

namespace dtj::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view step_prefix = "step-";
constexpr std::string_view temporary_prefix = ".tmp-";

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Its writer is dead. A number may be taken again by another process, so an old folder counts as stale too.
bool is_stale(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  const auto pid = parse_number(std::string_view(name).substr(name.rfind('-') + 1));
  if (!pid || *pid == ::getpid()) return true;
  if (::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH) return true;
  std::error_code error;
  const auto written = entry.last_write_time(error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::hours(1);
}

}  // namespace

std::string step_name(std::int64_t step) {
  return fmt::format("{}{:08}", step_prefix, step);
}

std::string join(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

std::string temporary_name(std::string_view purpose) {
  return fmt::format("{}{}-{}", temporary_prefix, purpose, ::getpid());
}

Result<std::vector<std::int64_t>> list_steps(const std::string& dir) {
  std::error_code error;
  fs::directory_iterator entries(dir, error);
  if (error == std::errc::no_such_file_or_directory) return std::vector<std::int64_t>{};
  if (error) return tl::unexpected(system_error(error.value(), "read", dir));
  std::vector<std::int64_t> steps;
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(step_prefix, 0) != 0) continue;
    const auto step = parse_number(std::string_view(name).substr(step_prefix.size()));
    if (step && step_name(*step) == name) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

void remove_stale_temporaries(const std::string& dir) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const bool is_temporary = entry.path().filename().string().rfind(temporary_prefix, 0) == 0;
    if (is_temporary && is_stale(entry)) stale.push_back(entry.path());
  }
  for (const fs::path& path : stale) fs::remove_all(path, error);
}

}  // namespace dtj::checkpoint
