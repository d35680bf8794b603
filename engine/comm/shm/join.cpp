#include "engine/comm/shm/join.hpp"

#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/comm/shm/process.hpp"

namespace dtj::comm::shm {
namespace {

constexpr std::uint64_t magic = 0x316d6873'6a746400ull;
constexpr Duration poll_interval = std::chrono::milliseconds(2);

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

tl::unexpected<Error> too_late(const ShmOptions& options, const std::string& what) {
  return fail(ErrorCode::deadline_exceeded,
              fmt::format("joining {} ranks: {} within {} s", options.world_size, what, seconds(options.timeout)));
}

/// Rank 0: the segment with a board of zeros, published by `magic`.
Result<Joined> create(const ShmOptions& options, const group::Layout& layout) {
  DTJ_TRY_ASSIGN(Segment segment, Segment::create(options.segment));
  DTJ_TRY(segment.extend(layout.total_bytes()));
  DTJ_TRY(segment.reserve(0, layout.common_bytes()));
  DTJ_TRY_ASSIGN(auto mapping, segment.map(0, layout.total_bytes()));
  const group::Board board(mapping->data(), layout);
  board.control().world_size = static_cast<std::uint64_t>(options.world_size);
  board.control().magic.store(magic, std::memory_order_release);
  return Joined{std::move(segment), std::move(mapping)};
}

/// Other ranks: wait for rank 0's segment.
Result<Joined> find(const ShmOptions& options, const group::Layout& layout, Deadline deadline) {
  while (true) {
    auto segment = Segment::open(options.segment);
    if (!segment && segment.error().code != ErrorCode::not_found) return tl::unexpected(segment.error());
    if (segment && segment->size() >= static_cast<std::int64_t>(sizeof(group::Control))) {
      DTJ_TRY_ASSIGN(auto head, segment->map(0, sizeof(group::Control)));
      const auto& control = *reinterpret_cast<const group::Control*>(head->data());
      if (control.magic.load(std::memory_order_acquire) == magic) {
        if (control.world_size != static_cast<std::uint64_t>(options.world_size)) {
          return fail(ErrorCode::invalid_argument,
                      fmt::format("rank {} expects {} ranks, rank 0 expects {}", options.rank.value, options.world_size,
                                  control.world_size));
        }
        DTJ_TRY_ASSIGN(auto mapping, segment->map(0, layout.total_bytes()));
        return Joined{std::move(*segment), std::move(mapping)};
      }
    }
    if (Clock::now() >= deadline) return too_late(options, "rank 0 did not arrive");
    std::this_thread::sleep_for(poll_interval);
  }
}

Status enter(const ShmOptions& options, const group::Board& board) {
  group::Member& member = board.member(options.rank.value);
  const ProcessId self = this_process();
  // The number is taken before the state is: a second caller with this rank must not overwrite the first one's process.
  auto expected = static_cast<std::uint32_t>(group::MemberState::absent);
  constexpr std::uint32_t entering = 100;
  if (!member.state.compare_exchange_strong(expected, entering, std::memory_order_acq_rel)) {
    return fail(ErrorCode::invalid_argument, fmt::format("two callers join as rank {}", options.rank.value));
  }
  member.pid = self.pid;
  member.start_time = self.start_time;
  member.state.store(static_cast<std::uint32_t>(group::MemberState::joined), std::memory_order_release);
  const std::uint32_t before = board.control().num_joined.fetch_add(1, std::memory_order_acq_rel);
  // The last one removes the name; the memory lives on in the mappings.
  if (before + 1 == static_cast<std::uint32_t>(options.world_size)) unlink_segment(options.segment);
  board.notify();
  return {};
}

bool is_absent(const group::Board& board, std::int64_t rank) {
  const std::uint32_t state = board.member(rank).state.load(std::memory_order_acquire);
  return state != static_cast<std::uint32_t>(group::MemberState::joined) &&
         state != static_cast<std::uint32_t>(group::MemberState::left);
}

Status wait_for_all(const ShmOptions& options, const group::Board& board, Deadline deadline) {
  while (true) {
    const std::uint32_t seen = board.event();
    // First, because the others may be in their first operations by now, and one of those may already have failed.
    if (board.control().num_joined.load(std::memory_order_acquire) == options.world_size) return {};
    DTJ_TRY(board.status());
    std::vector<std::int64_t> missing;
    for (std::int64_t rank = 0; rank < options.world_size; ++rank) {
      if (is_absent(board, rank)) {
        missing.push_back(rank);
      } else if (has_ended(board, rank)) {
        board.fail(ErrorCode::aborted, fmt::format("rank {} died while the ranks were joining", rank));
      }
    }
    if (Clock::now() >= deadline) {
      auto late = too_late(options, fmt::format("{} {} did not arrive", missing.size() == 1 ? "rank" : "ranks",
                                                fmt::join(missing, ", ")));
      board.fail(late.value().code, late.value().message);
    }
    board.sleep(seen, std::chrono::milliseconds(50));
  }
}

}  // namespace

bool has_ended(const group::Board& board, std::int64_t rank) {
  const group::Member& member = board.member(rank);
  return has_ended(ProcessId{member.pid, member.start_time});
}

Result<Joined> join(const ShmOptions& options) {
  if (options.world_size < 1 || options.world_size > group::max_world_size ||
      options.rank.value >= options.world_size) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("rank {} in a group of {}", options.rank.value, options.world_size));
  }
  const group::Layout layout(options.world_size, true);
  const Deadline deadline = Clock::now() + options.timeout;
  auto joined = options.rank.value == 0 ? create(options, layout) : find(options, layout, deadline);
  if (!joined) return joined;
  const group::Board board(joined->mapping->data(), layout);
  auto status = enter(options, board);
  if (status) status = wait_for_all(options, board, deadline);
  if (!status) {
    // Nobody else can complete this group any more.
    if (status.error().code != ErrorCode::invalid_argument) unlink_segment(options.segment);
    return tl::unexpected(std::move(status.error()));
  }
  return joined;
}

}  // namespace dtj::comm::shm
