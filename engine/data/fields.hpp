#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/job_spec.hpp"
#include "engine/base/result.hpp"

namespace dtj::data {

/// A field that a data source can fill.
struct OfferedField {
  std::string name;
  DType dtype;
  std::int64_t num_elements;  ///< of one sample
};

/// Where the two fields of a source stand in DataSpec::fields; none = the job does not read it.
struct FieldSlots {
  std::optional<std::size_t> first, second;
};

/// Errors: invalid_argument (a field that the source does not have, or of another dtype or size).
Result<FieldSlots> find_fields(const DataSpec& spec, const OfferedField& first, const OfferedField& second);

}  // namespace dtj::data
