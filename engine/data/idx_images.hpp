#pragma once

#include <memory>

#include "engine/data/data.hpp"

namespace dtj::data {

/// SourceKind::idx_images. Fields: image f32 (height * width values, transformed), label i32.
Result<std::unique_ptr<Dataset>> open_idx_images(const DataSpec& spec);

}  // namespace dtj::data
