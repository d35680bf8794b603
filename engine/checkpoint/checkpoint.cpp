#include "engine/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/hash.hpp"
#include "engine/checkpoint/file.hpp"
#include "engine/checkpoint/folder.hpp"
#include "engine/checkpoint/safetensors.hpp"

namespace dtj::checkpoint {
namespace {

namespace fs = std::filesystem;

// A folder that goes away unless it is renamed.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directory(path, error);
  if (error) return tl::unexpected(system_error(error.value(), "create folder", path));
  return {};
}

Status rename_folder(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return tl::unexpected(system_error(errno, "create", to));
  return {};
}

// What cannot be written is the environment's fault, not a file that the job is missing.
Error as_write_error(Error error) {
  if (error.code == ErrorCode::not_found) error.code = ErrorCode::unavailable;
  return error;
}

Result<Bytes> write_contents(const std::string& folder, Manifest& manifest, gsl::span<const TensorView> tensors) {
  const std::string shard = fmt::format("shard-{:05}-of-{:05}.safetensors", 0, 1);
  DTJ_TRY_ASSIGN(const Bytes size, write_safetensors(join(folder, shard), tensors));
  manifest.shards = {{shard, size.count}};
  manifest.tensors.clear();
  for (const TensorView& tensor : tensors) {
    manifest.tensors.push_back({tensor.name, 0, tensor.dtype, tensor.shape, hash64(tensor.data, tensor.size())});
  }
  const std::string text = to_json(manifest);
  DTJ_TRY(write_text(join(folder, manifest_name), text));
  DTJ_TRY(sync_folder(folder));
  return Bytes{size.count + static_cast<std::int64_t>(text.size())};
}

void write_hint(const std::string& dir, const std::string& name) {
  const std::string temporary = join(dir, temporary_name("latest"));
  std::error_code ignored;
  fs::remove(temporary, ignored);
  if (write_text(temporary, name + "\n")) fs::rename(temporary, join(dir, "latest"), ignored);
}

// Renamed first: a folder that is half gone must not look like a damaged checkpoint.
Status remove_checkpoint(const std::string& dir, std::int64_t step) {
  const TemporaryFolder going(join(dir, temporary_name("old-" + step_name(step))));
  return rename_folder(join(dir, step_name(step)), going.path());
}

void prune(const std::string& dir, std::int64_t keep, std::int64_t newest, const Logger& log) {
  const auto steps = list_steps(dir);
  if (!steps) return;
  std::vector<std::int64_t> old;
  for (const std::int64_t step : *steps) {
    if (step < newest) old.push_back(step);
  }
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(keep - 1, 0));
  for (std::size_t i = 0; i + kept < old.size(); ++i) {
    const auto status = remove_checkpoint(dir, old[i]);
    if (!status && log) log(LogLevel::warning, fmt::format("an old checkpoint stays: {}", status.error().to_string()));
  }
}

}  // namespace

Result<FolderLock> prepare_folder(const std::string& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return tl::unexpected(as_write_error(system_error(error.value(), "create folder", dir)));
  // A run that was killed a moment ago may still have ranks that are leaving.
  auto lock = FolderLock::acquire(dir, std::chrono::seconds(5));
  if (!lock) return tl::unexpected(as_write_error(std::move(lock.error())));
  remove_stale_temporaries(dir);
  const std::string probe = join(dir, temporary_name("probe"));
  auto status = write_text(probe, "dtj\n");
  fs::remove(probe, error);
  if (!status) return fail_with(as_write_error(std::move(status.error())), "checkpoint folder");
  return lock;
}

Result<SavedCheckpoint> save(const std::string& dir, std::int64_t keep, Manifest manifest,
                             gsl::span<const TensorView> tensors, const Logger& log) {
  const std::int64_t step = manifest.state.step;
  const std::string name = step_name(step);
  const std::string path = join(dir, name);
  std::error_code ignored;
  const bool exists = fs::exists(path, ignored);
  if (exists && read_verified(path)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("there is a valid checkpoint `{}` already: it is not replaced", path));
  }

  const TemporaryFolder temporary(join(dir, temporary_name(name)));
  fs::remove_all(temporary.path(), ignored);
  const auto write = [&]() -> Result<Bytes> {
    DTJ_TRY(make_folder(temporary.path()));
    return write_contents(temporary.path(), manifest, tensors);
  };
  auto size = write();
  if (!size) return fail_with(as_write_error(std::move(size.error())), fmt::format("checkpoint of step {}", step));

  // A damaged checkpoint of the same step makes room only when its successor is whole.
  if (exists) {
    DTJ_TRY(remove_checkpoint(dir, step));
  }
  DTJ_TRY(rename_folder(temporary.path(), path));
  DTJ_TRY(sync_folder(dir));
  write_hint(dir, name);
  prune(dir, keep, step, log);
  return SavedCheckpoint{path, *size};
}

Result<std::optional<Checkpoint>> find_newest(const std::string& dir, const Logger& log) {
  DTJ_TRY_ASSIGN(std::vector<std::int64_t> steps, list_steps(dir));
  std::string damage;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    auto checkpoint = read_verified(join(dir, step_name(*step)));
    if (checkpoint) return std::optional(std::move(*checkpoint));
    const Error& error = checkpoint.error();
    // A file that cannot be read now may be whole: going on from an older one would lose work.
    if (error.code != ErrorCode::data_loss && error.code != ErrorCode::not_found) return tl::unexpected(error);
    damage = error.to_string();
    if (log) log(LogLevel::warning, fmt::format("checkpoint of step {} is not used: {}", *step, damage));
  }
  if (!damage.empty()) {
    return fail(ErrorCode::data_loss,
                fmt::format("all {} checkpoints in `{}` are damaged; the oldest: {}", steps.size(), dir, damage));
  }
  return std::optional<Checkpoint>();
}

}  // namespace dtj::checkpoint
