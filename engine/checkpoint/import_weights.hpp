#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gsl/span>

#include "engine/base/job_spec.hpp"
#include "engine/base/result.hpp"
#include "engine/checkpoint/tensors.hpp"

// Weights from outside: a safetensors file that another program wrote, with its own names and layout.

namespace dtj::checkpoint {

struct ImportedWeights {
  std::int64_t num_tensors = 0;
  std::vector<std::string> initialised;  ///< parameters that the file lacks, where the job allows that
};

/// Fills the parameters among `targets` that `spec` names, converting floats and transposing as it says. Names, shapes and
/// dtypes are checked before any tensor is read.
/// Errors: not_found, unavailable, data_loss (the file); invalid_argument, with everything that does not fit the model.
Result<ImportedWeights> import_weights(const WeightsSpec& spec, gsl::span<const TensorTarget> targets);

}  // namespace dtj::checkpoint
