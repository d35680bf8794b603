#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.hpp"

namespace dtj::monitor {

/// What a rank is doing, in a small mapped file that survives SIGKILL. Writing is a few stores: no system call.
class Journal {
 public:
  virtual ~Journal() = default;

  /// `phase` is a literal such as "start", "data", "micro", "update", "eval", "checkpoint".
  virtual void set_step(std::int64_t step, const char* phase) = 0;
  /// Position in the program's list of steps.
  virtual void set_plan_step(std::uint32_t index, std::string_view label) = 0;
  /// Number and name of the collective that this rank started or waits in.
  virtual void set_collective(std::uint64_t sequence, std::string_view name, bool waiting) = 0;
};

struct JournalEntry {
  std::int64_t step = -1;
  std::string phase;
  std::uint32_t plan_step = 0;
  std::string label;
  std::uint64_t sequence = 0;
  std::string collective;
  bool waiting = false;
};

/// Creates (truncates) the file.
Result<std::unique_ptr<Journal>> create_journal(const std::string& path);
/// Reads the journal of a process that may be alive or dead.
Result<JournalEntry> read_journal(const std::string& path);

}  // namespace dtj::monitor
