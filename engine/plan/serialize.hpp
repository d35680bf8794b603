#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.hpp"
#include "engine/plan/plan.hpp"

// The file form of a plan: a header (magic, format version, content length, checksum) and the fields of `fields.hpp`,
// little-endian.

namespace dtj::plan {

/// The value of ExecutionPlan::hash: everything that decides the numbers. Paths, log and checkpoint intervals, source
/// positions and the bytes of kernel objects do not enter.
std::uint64_t compute_hash(const ExecutionPlan& plan);

/// The plan in its file form, with `compute_hash(plan)` as its hash.
std::string save(const ExecutionPlan& plan);
/// Errors: data_loss (damaged or truncated), unimplemented (another format version), invalid_argument (whole, but not
/// a plan that `verify` accepts).
Result<ExecutionPlan> load(std::string_view bytes);

/// Puts the header before raw content. `save` is `seal` of the encoded fields.
std::string seal(std::string_view content);

/// Writes to a temporary file beside `path` and renames it. Errors: unavailable, with the path.
Status save_file(const ExecutionPlan& plan, const std::string& path);
/// Errors: not_found, unavailable, and those of `load`, with the path.
Result<ExecutionPlan> load_file(const std::string& path);

}  // namespace dtj::plan
