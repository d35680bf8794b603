#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <gsl/span>

#include "engine/base/log.hpp"
#include "engine/base/result.hpp"
#include "engine/base/units.hpp"
#include "engine/checkpoint/lock.hpp"
#include "engine/checkpoint/manifest.hpp"
#include "engine/checkpoint/tensors.hpp"

// A folder of checkpoints: one folder `step-00000123` each, with safetensors shards and `manifest.json`. A checkpoint
// is written to a temporary folder and renamed when it is complete and on the disk, so a folder with that name is whole
// unless the disk damaged it later; then the one before it is used. `latest` is a hint for people.

namespace dtj::checkpoint {

struct SavedCheckpoint {
  std::string path;
  Bytes size;
};

/// A checkpoint whose files agree with its manifest.
struct Checkpoint {
  std::string path;
  std::uint64_t manifest_hash = 0;  ///< of the bytes of manifest.json
  Manifest manifest;
};

/// Makes `dir`, takes its lock, removes what dead writers left there, and proves that files can be written.
/// Errors: unavailable (another run writes there, or no files can be made), out_of_memory, all with the path.
Result<FolderLock> prepare_folder(const std::string& dir);

/// Commits a checkpoint of step `manifest.state.step`; fills in the manifest's shards and tensors. Then removes all but
/// the `keep` newest up to this step. Never replaces a valid checkpoint.
/// Errors: unavailable, out_of_memory (disk full), invalid_argument (there is a valid checkpoint of that step); after
/// an error nothing new is in the folder.
Result<SavedCheckpoint> save(const std::string& dir, std::int64_t keep, Manifest manifest,
                             gsl::span<const TensorView> tensors, const Logger& log);

/// The newest checkpoint that is valid, all checksums read; none = there is none. Warns about each damaged one.
/// Errors: data_loss (there are checkpoints and all are damaged), unavailable.
Result<std::optional<Checkpoint>> find_newest(const std::string& dir, const Logger& log);

/// The checkpoint that rank 0 chose. Errors: not_found, data_loss (another manifest on this rank).
Result<Checkpoint> open_checkpoint(const std::string& dir, std::int64_t step, std::uint64_t manifest_hash);

/// May a run with this plan go on from it? Errors: invalid_argument, with everything that differs.
Status check_resumable(const Checkpoint& checkpoint, std::uint64_t plan_hash, const Contract& contract,
                       gsl::span<const TensorTarget> tensors);

/// Fills all tensors, which are exactly those of the checkpoint, and compares their checksums.
/// Errors: invalid_argument (names, shapes or dtypes differ), data_loss, unavailable.
Status load(const Checkpoint& checkpoint, gsl::span<const TensorTarget> tensors);

}  // namespace dtj::checkpoint
