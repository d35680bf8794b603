#pragma once

#include "engine/base/result.hpp"
#include "engine/base/units.hpp"
#include "engine/device/device.hpp"

namespace dtj::device {

/// Private memory of this process, page-aligned and zeroed. Errors: out_of_memory.
Result<Memory> allocate_host_memory(Bytes size);

}  // namespace dtj::device
