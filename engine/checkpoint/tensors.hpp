#pragma once

#include <cstddef>
#include <string>

#include "engine/base/dtype.hpp"
#include "engine/base/shape.hpp"

namespace dtj::checkpoint {

/// A tensor to save: its bytes in memory, row-major.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  const std::byte* data = nullptr;

  std::size_t size() const { return size_of(dtype) * static_cast<std::size_t>(num_elements(shape)); }
};

/// A tensor to fill.
struct TensorTarget {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::byte* data = nullptr;

  std::size_t size() const { return size_of(dtype) * static_cast<std::size_t>(num_elements(shape)); }
};

}  // namespace dtj::checkpoint
