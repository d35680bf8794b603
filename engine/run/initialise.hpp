#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/job_spec.hpp"

namespace dtj::run {

/// Fills `count` elements of a persistent tensor. Element i is a function of (seed, name, i) only, so it does not
/// depend on the number of ranks or threads.
void initialise(const InitSpec& init, std::uint64_t seed, std::string_view name, DType dtype, std::byte* data,
                std::int64_t count);

}  // namespace dtj::run
