#pragma once

#include <functional>
#include <iosfwd>
#include <string_view>

#include "compiler/lint/config.hpp"

namespace dtj::lint {

/// Receives the findings of a file in order, those that a comment suppresses too.
using OnFinding = std::function<void(Finding&&)>;

/// What a scan saw of its file.
struct FileReport {
  bool is_binary = false;  ///< skipped
  std::uint64_t num_bytes = 0, num_lines = 0;
};

/// Finds the leaked site details of a text. `name` says what kind of file it is, by its extension.
FileReport scan_text(std::string_view name, std::string_view text, const Config& config, const OnFinding& on_finding);
/// The same for a stream of any length, in memory that does not grow with it.
FileReport scan_stream(std::string_view name, std::istream& input, const Config& config, const OnFinding& on_finding);

}  // namespace dtj::lint
