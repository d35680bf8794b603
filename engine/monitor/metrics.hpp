#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <gsl/span>

#include "engine/base/result.hpp"

namespace dtj::monitor {

/// One entry of a record. A number that is not finite is written as null, as JSON has none.
struct MetricsField {
  std::string_view name;
  std::variant<std::int64_t, double, bool, std::string_view> value;
};

/// Appends records to a file of JSON lines: one object a line, handed to the system when `write` returns.
class MetricsWriter {
 public:
  /// Makes the folder too. Errors: unavailable (not writable), with the path.
  static Result<std::unique_ptr<MetricsWriter>> open(const std::string& path);
  virtual ~MetricsWriter() = default;

  /// Errors: unavailable, out_of_memory (disk full).
  virtual Status write(gsl::span<const MetricsField> record) = 0;
};

}  // namespace dtj::monitor
