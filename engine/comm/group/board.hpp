#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/result.hpp"
#include "engine/base/units.hpp"
#include "engine/comm/group/control.hpp"

namespace dtj::comm::group {

/// The shared memory of a group as one rank sees it: events and the common failure. Does not own the memory.
class Board {
 public:
  Board(std::byte* memory, const Layout& layout) : memory_(memory), layout_(layout) {}

  Control& control() const { return *reinterpret_cast<Control*>(memory_); }
  Member& member(std::int64_t rank) const { return reinterpret_cast<Member*>(memory_ + layout_.members())[rank]; }
  Slot* slots(std::int64_t offset) const { return reinterpret_cast<Slot*>(memory_ + offset); }
  std::byte* at(std::int64_t offset) const { return memory_ + offset; }
  const Layout& layout() const { return layout_; }

  /// Tells everybody that something changed.
  void notify() const;
  std::uint32_t event() const { return control().event.load(std::memory_order_acquire); }
  /// Returns when the event differs from `seen`, or after the timeout, or for no reason.
  void sleep(std::uint32_t seen, Duration timeout) const;

  /// Ends the group. The first failure is the one that every rank reports.
  void fail(ErrorCode code, const std::string& reason) const;
  bool has_failed() const { return control().failure.load(std::memory_order_acquire) != 0; }
  /// The failure, if any.
  Status status() const;

 private:
  std::byte* memory_;
  Layout layout_;
};

/// A hint to the core inside a short spin.
void relax();

}  // namespace dtj::comm::group
