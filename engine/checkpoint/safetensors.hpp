#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <gsl/span>

#include "engine/base/result.hpp"
#include "engine/base/units.hpp"
#include "engine/checkpoint/tensors.hpp"

// The safetensors file format (github.com/huggingface/safetensors): 8 bytes little-endian header size, a JSON header
// {name: {dtype, shape, data_offsets}}, then the data without holes. The Python library of that name reads these files.

namespace dtj::checkpoint {

/// Writes and syncs a new file. Gives its size.
/// Errors: unavailable, out_of_memory (no space left), with the path.
Result<Bytes> write_safetensors(const std::string& path, gsl::span<const TensorView> tensors);

struct SafetensorsEntry {
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t offset = 0;  ///< from the start of the file
  std::int64_t size = 0;
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry> tensors;
  std::int64_t file_size = 0;
};

/// Reads the header and proves that the data is as long as it says and has neither holes nor overlaps.
/// Errors: not_found, data_loss, with the path.
Result<SafetensorsHeader> read_safetensors_header(const std::string& path);

}  // namespace dtj::checkpoint
