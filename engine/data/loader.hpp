#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/job_spec.hpp"
#include "engine/base/result.hpp"
#include "engine/data/data.hpp"
#include "engine/data/sampler.hpp"

namespace dtj::data {

/// One micro batch of one rank. Padded samples stand at its end: -1 in target fields, 0 elsewhere.
struct MicroBatch {
  std::vector<std::byte*> fields;  ///< one per DataSpec::fields: [micro_batch, ...sample_shape]
  std::vector<std::size_t> sizes;  ///< bytes of each field
  std::int64_t num_valid = 0;      ///< samples that are not padding
};

struct LoaderOptions {
  std::int64_t rank = 0;  ///< among the data-parallel ranks
  /// Step at which the sequence ends; none = never.
  std::optional<std::int64_t> num_steps;
};

/// Reads the micro batches of one rank ahead of their use, in a thread of its own. All memory is taken at creation.
class Loader {
 public:
  /// `dataset` must outlive the loader.
  static std::unique_ptr<Loader> create(const Dataset& dataset, const DataSpec& spec, const Sampler& sampler,
                                        const LoaderOptions& options);
  virtual ~Loader() = default;

  /// The next micro batch is the first one of this step. `step` counts on through the epochs.
  virtual void seek(std::int64_t step) = 0;
  /// Valid until the next call of `next` or `seek`. Errors: those of Dataset::read.
  /// Must not be called at the end of the sequence.
  virtual Result<const MicroBatch*> next() = 0;
};

}  // namespace dtj::data
