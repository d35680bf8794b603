#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.hpp"
#include "engine/base/job_spec.hpp"
#include "engine/base/result.hpp"
#include "engine/base/shape.hpp"

namespace dtj::checkpoint {

inline constexpr std::int64_t manifest_format_version = 1;

/// The part of the launch contract that decides what a step computes.
struct Contract {
  std::string job;
  std::int64_t world_size = 1;
  MeshSpec mesh;
  std::int64_t global_batch = 1;
  std::int64_t micro_batch = 1;
  std::int64_t gradient_accumulation = 1;
  PrecisionSpec precision;
  std::uint64_t seed = 0;
};

Contract contract_of(const JobSpec& job);

/// Where training stands, beside the tensors.
struct TrainState {
  std::int64_t step = 0;  ///< steps done
  // The next sample to read, and what it looks like: a resumed run must read the same one.
  std::int64_t epoch = 0;
  std::int64_t position_in_epoch = 0;
  std::uint64_t next_sample_hash = 0;
  std::uint64_t sampler_seed = 0;
  double learning_rate = 0;               ///< of the last step; the schedule is a function of `step`
  double train_seconds = 0;               ///< since the very start of the job
  std::map<std::string, double> metrics;  ///< of the last step
};

/// A file that holds tensors. One today; sharded checkpoints have more.
struct ShardEntry {
  std::string file;  ///< relative to the checkpoint's folder
  std::int64_t size = 0;
};

struct TensorEntry {
  std::string name;
  std::size_t shard = 0;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t checksum = 0;  ///< xxh3 of its bytes
};

/// What `manifest.json` says. Written last, so a folder with a manifest is complete.
struct Manifest {
  std::uint64_t plan_hash = 0;
  Contract contract;
  TrainState state;
  std::vector<ShardEntry> shards;
  std::vector<TensorEntry> tensors;
};

std::string to_json(const Manifest& manifest);
/// Errors: data_loss (not JSON, a missing or malformed entry, another format version).
Result<Manifest> parse_manifest(std::string_view text);

}  // namespace dtj::checkpoint
