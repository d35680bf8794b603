#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// The memory that the ranks of a group share: plain heap for threads, a shared segment for processes. All of it starts
// as zeros.

namespace dtj::comm::group {

enum class Op : std::uint8_t { barrier, all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, send_recv };

inline constexpr std::uint64_t slots_per_lane = 32;
inline constexpr std::int64_t world_staging_bytes = 1 << 20;
inline constexpr std::int64_t pair_staging_bytes = 1 << 15;
inline constexpr std::int64_t max_world_size = 1024;

/// What one rank says about one operation.
struct OpHeader {
  Op op = Op::barrier;
  std::uint8_t dtype = 0;
  std::uint16_t unused = 0;
  std::uint32_t root = 0;
  std::int64_t count = 0;
  std::int64_t region = -1;  ///< memory that peers can address, or -1: through staging
  std::int64_t offset = 0;   ///< into the region
  std::uint64_t base_phase = 0;
};

/// Written by its rank only. `phase` never goes back, also from one operation to the next: a peer that is still looking
/// at the old operation sees it as finished.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> sequence;  ///< 1-based number of the operation in its lane
  std::atomic<std::uint64_t> phase;
  OpHeader header;
};
static_assert(sizeof(Slot) == 64);

enum class MemberState : std::uint32_t { absent, joined, left };

struct alignas(64) Member {
  std::atomic<std::uint32_t> state;
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;  ///< tells a process from a later one with the same number
};

struct Control {
  std::atomic<std::uint64_t> magic;  ///< set last, when the rest is ready
  std::uint64_t world_size = 0;
  std::atomic<std::uint32_t> num_joined;

  /// Changes with everything that somebody may wait for; sleepers sleep on it.
  alignas(64) std::atomic<std::uint32_t> event;
  alignas(64) std::atomic<std::uint32_t> num_sleepers;

  /// The first failure ends the group for everybody. 0 = none, 1 = being written, 2 = readable.
  alignas(64) std::atomic<std::uint32_t> failure;
  std::uint32_t failure_code = 0;
  std::array<char, 1016> reason{};
};

/// Where everything lies in the shared memory.
class Layout {
 public:
  Layout(std::int64_t world_size, bool has_staging) : world_size_(world_size), has_staging_(has_staging) {}

  std::int64_t members() const { return round_up(sizeof(Control)); }
  std::int64_t world_slots(std::int64_t rank) const { return world_slots_start() + rank * slots_bytes(); }
  std::int64_t world_staging(std::int64_t rank) const { return world_staging_start() + rank * world_bytes(); }
  /// `side` 0 sends, 1 receives.
  std::int64_t pair_slots(std::int64_t from, std::int64_t to, int side) const {
    return pair_start(from, to) + side * slots_bytes();
  }
  std::int64_t pair_staging(std::int64_t from, std::int64_t to) const {
    return pair_start(from, to) + 2 * slots_bytes();
  }
  /// Up to here the memory is used by every group; behind lie the lanes of pairs, most of them never touched.
  std::int64_t common_bytes() const { return pair_start(0, 0); }
  std::int64_t total_bytes() const { return pair_start(world_size_, 0); }

  std::int64_t world_bytes() const { return has_staging_ ? world_staging_bytes : 0; }
  std::int64_t pair_bytes() const { return has_staging_ ? pair_staging_bytes : 0; }

 private:
  static std::int64_t round_up(std::size_t bytes) { return static_cast<std::int64_t>((bytes + 4095) / 4096 * 4096); }
  static std::int64_t slots_bytes() { return static_cast<std::int64_t>(sizeof(Slot) * slots_per_lane); }
  std::int64_t world_slots_start() const {
    return members() + round_up(sizeof(Member) * static_cast<std::size_t>(world_size_));
  }
  std::int64_t world_staging_start() const {
    return world_slots_start() + round_up(static_cast<std::size_t>(world_size_ * slots_bytes()));
  }
  std::int64_t pair_start(std::int64_t from, std::int64_t to) const {
    const std::int64_t pair_size = round_up(static_cast<std::size_t>(2 * slots_bytes() + pair_bytes()));
    return world_staging_start() + world_size_ * world_bytes() + (from * world_size_ + to) * pair_size;
  }

  std::int64_t world_size_;
  bool has_staging_;
};

}  // namespace dtj::comm::group
