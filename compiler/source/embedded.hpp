#pragma once

#include <cstddef>
#include <gsl/span>

namespace dtj::source {

/// One file of the standard library, as the build made it. `text` has `size` bytes.
struct EmbeddedFile {
  const char* module;
  const unsigned char* text;
  std::size_t size;
};

/// In the order of their names; defined in a generated file.
gsl::span<const EmbeddedFile> embedded_stdlib();

}  // namespace dtj::source
