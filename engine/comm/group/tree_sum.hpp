#pragma once

#include <cstddef>
#include <cstdint>

#include <gsl/span>

#include "engine/base/dtype.hpp"

namespace dtj::comm::group {

/// Whether `tree_sum` knows the dtype: f32, f64, bf16, i32, i64.
bool is_summable(DType dtype);

/// The canonical sum: out[i] = tree over all sources of source[i], where neighbours are added first, then neighbouring
/// pairs: ((0+1)+(2+3))+(4+5). bf16 is summed in f32 and rounded once. Integers wrap. The result goes to every one of
/// `outs`, which may be the sources themselves.
void tree_sum(gsl::span<const std::byte* const> sources, gsl::span<std::byte* const> outs, std::int64_t count,
              DType dtype);

}  // namespace dtj::comm::group
