#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.hpp"
#include "engine/checkpoint/checkpoint.hpp"

namespace dtj::checkpoint {

inline constexpr std::string_view manifest_name = "manifest.json";

/// "step-00000123"
std::string step_name(std::int64_t step);
std::string join(const std::string& folder, std::string_view name);
/// A name that readers ignore and that `remove_stale_temporaries` knows: ".tmp-step-00000123-<pid>".
std::string temporary_name(std::string_view purpose);

/// Steps for which there is a folder, ascending. Empty when `dir` does not exist. Errors: unavailable.
Result<std::vector<std::int64_t>> list_steps(const std::string& dir);
void remove_stale_temporaries(const std::string& dir);

/// Reads the manifest and compares every shard and tensor with it.
/// Errors: not_found, data_loss (name the damaged file), unavailable.
Result<Checkpoint> read_verified(const std::string& path);

}  // namespace dtj::checkpoint
