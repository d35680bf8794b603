#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <gsl/span>

#include "engine/base/job_spec.hpp"
#include "engine/base/result.hpp"

namespace dtj::data {

/// One sample of a data set. Text is cut into windows at another offset in every shuffled epoch, so the epoch belongs
/// to the name of a sample.
struct SampleId {
  std::int64_t epoch = 0;
  std::int64_t index = 0;  ///< in [0, num_samples)
};

/// Samples by number. Reading is thread-safe.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// The same in every epoch.
  virtual std::int64_t num_samples() const = 0;
  /// Writes one sample: one pointer per DataSpec::fields, to size_of(dtype) * num_elements(sample_shape) bytes each.
  /// Errors: invalid_argument (a token outside the vocabulary; names file and position).
  virtual Status read(SampleId id, gsl::span<std::byte* const> fields) const = 0;
};

/// Opens and checks the files of a data section.
/// Errors, all with the file named: not_found, data_loss (truncated or damaged), invalid_argument (not of the stated
/// kind, shape or range).
Result<std::unique_ptr<Dataset>> open_dataset(const DataSpec& spec);

/// Bytes of one sample of a field.
std::size_t sample_bytes(const FieldSpec& field);

/// A hash of the bytes of one sample and of the size of the data set: tells whether a resumed run reads the same data.
Result<std::uint64_t> hash_sample(const Dataset& dataset, const DataSpec& spec, SampleId id);

}  // namespace dtj::data
