#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/result.hpp"
#include "engine/base/shape.hpp"

namespace dtj::data {

/// An IDX file of unsigned bytes (the MNIST format): big-endian magic, dims, then the values in row-major order.
struct IdxFile {
  std::string path;
  Shape dims;
  std::vector<std::uint8_t> values;
};

/// Reads `folder/name` or `folder/name.gz`; what is compressed is told by the content, not by the name.
/// Errors: not_found (names both spellings and the folder), invalid_argument (not an IDX file of `num_dims` dims),
/// data_loss (truncated, damaged or too long; with the expected and the found number of bytes).
Result<IdxFile> read_idx(const std::string& folder, const std::string& name, std::int64_t num_dims);

}  // namespace dtj::data
