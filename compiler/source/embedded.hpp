#pragma once

#include <cstddef>
#include <gsl/span>

namespace dtj::source {

/// One file that the build put into the program. `text` has `size` bytes.
struct EmbeddedFile {
  const char* name;  ///< without folder and extension
  const unsigned char* text;
  std::size_t size;
};

/// The standard library in the order of its names; defined in a generated file.
gsl::span<const EmbeddedFile> embedded_stdlib();

}  // namespace dtj::source
