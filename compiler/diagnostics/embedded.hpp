#pragma once

#include <gsl/span>

#include "compiler/source/embedded.hpp"

namespace dtj::diag {

/// The files of explain/; defined in a generated file.
gsl::span<const source::EmbeddedFile> embedded_explanations();

}  // namespace dtj::diag
