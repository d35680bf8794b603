#include "engine/comm/group/group_communicator.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gsl/assert>

#include "engine/comm/group/tree_sum.hpp"

namespace dtj::comm::group {
namespace {

constexpr Duration liveness_interval = std::chrono::milliseconds(100);
constexpr Duration longest_sleep = std::chrono::milliseconds(50);
constexpr std::int64_t max_elements = std::int64_t{1} << 48;

LaneMembers world_members(const Board& board, std::int64_t rank, std::int64_t world_size) {
  LaneMembers members;
  members.me = static_cast<std::size_t>(rank);
  members.staging_bytes = board.layout().world_bytes();
  for (std::int64_t peer = 0; peer < world_size; ++peer) {
    members.ranks.push_back(peer);
    members.slots.push_back(board.slots(board.layout().world_slots(peer)));
    members.staging.push_back(board.at(board.layout().world_staging(peer)));
  }
  return members;
}

LaneMembers pair_members(const Board& board, std::int64_t from, std::int64_t to, std::int64_t rank) {
  LaneMembers members;
  members.ranks = {from, to};
  members.me = rank == from ? 0 : 1;
  members.slots = {board.slots(board.layout().pair_slots(from, to, 0)),
                   board.slots(board.layout().pair_slots(from, to, 1))};
  // Only the sender stages.
  members.staging.assign(2, board.at(board.layout().pair_staging(from, to)));
  members.staging_bytes = board.layout().pair_bytes();
  return members;
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

GroupCommunicator::GroupCommunicator(Rank rank, std::int64_t world_size, const Board& board, Duration timeout)
    : rank_(rank), world_size_(world_size), board_(board), timeout_(timeout), pending_(num_tickets) {
  const AddressBook& addresses = *this;
  world_ = std::make_unique<Lane>(board_, addresses, world_members(board_, rank.value, world_size));
  // With more ranks than cores, a spinning rank keeps the core from the one it waits for.
  spins_ = world_size <= ::sysconf(_SC_NPROCESSORS_ONLN) ? 5000 : 20;
}

void GroupCommunicator::leave() {
  board_.member(rank_.value).state.store(static_cast<std::uint32_t>(MemberState::left), std::memory_order_release);
  board_.notify();
}

Result<Ticket> GroupCommunicator::all_reduce_start(void* data, std::int64_t count, DType dtype) {
  DTJ_TRY(check_summable(dtype));
  return start(*world_, {Op::all_reduce, dtype, count, 0, data, data});
}

Result<Ticket> GroupCommunicator::reduce_scatter_start(void* data, std::int64_t count, DType dtype) {
  DTJ_TRY(check_summable(dtype));
  return start(*world_, {Op::reduce_scatter, dtype, count, 0, data, data});
}

Result<Ticket> GroupCommunicator::all_gather_start(void* data, std::int64_t count, DType dtype) {
  return start(*world_, {Op::all_gather, dtype, count, 0, data, data});
}

Result<Ticket> GroupCommunicator::broadcast_start(void* data, std::int64_t count, DType dtype, Rank root) {
  DTJ_TRY(check_rank(root));
  return start(*world_, {Op::broadcast, dtype, count, root.value, data, data});
}

Result<Ticket> GroupCommunicator::all_to_all_start(const void* send, void* recv, std::int64_t count, DType dtype) {
  return start(*world_, {Op::all_to_all, dtype, count, 0, send, recv});
}

Result<Ticket> GroupCommunicator::send_start(const void* data, std::int64_t count, DType dtype, Rank to) {
  DTJ_TRY(check_rank(to));
  if (to == rank_) return fail(ErrorCode::invalid_argument, "a rank cannot send to itself");
  return start(pair_lane(rank_.value, to.value), {Op::send_recv, dtype, count, 0, data, nullptr});
}

Result<Ticket> GroupCommunicator::recv_start(void* data, std::int64_t count, DType dtype, Rank from) {
  DTJ_TRY(check_rank(from));
  if (from == rank_) return fail(ErrorCode::invalid_argument, "a rank cannot receive from itself");
  return start(pair_lane(from.value, rank_.value), {Op::send_recv, dtype, count, 0, nullptr, data});
}

Status GroupCommunicator::wait(Ticket ticket) {
  // Tickets older than the table belong to operations that have long finished.
  if (next_ticket_ - ticket.value > num_tickets) return board_.status();
  const Pending& pending = pending_[ticket.value % num_tickets];
  Expects(pending.lane != nullptr);
  const Lane& lane = *pending.lane;
  const std::uint64_t sequence = pending.sequence;
  return wait_until(lane, sequence, [&] { return lane.is_finished(sequence); });
}

Status GroupCommunicator::barrier() {
  DTJ_TRY_ASSIGN(const Ticket ticket, start(*world_, Request{}));
  return wait(ticket);
}

void GroupCommunicator::abort(const std::string& reason) {
  board_.fail(ErrorCode::aborted, reason);
}

Result<Ticket> GroupCommunicator::start(Lane& lane, const Request& request) {
  DTJ_TRY(check(request.count));
  DTJ_TRY(board_.status());
  if (!lane.has_room()) {
    DTJ_TRY(wait_until(lane, lane.oldest_open(), [&] { return lane.has_room(); }));
  }
  // The ticket's place may still belong to an unfinished operation of another lane.
  const Pending old = pending_[next_ticket_ % num_tickets];
  if (old.lane != nullptr && !old.lane->is_finished(old.sequence)) {
    DTJ_TRY(wait_until(*old.lane, old.sequence, [&] { return old.lane->is_finished(old.sequence); }));
  }
  const Ticket ticket{next_ticket_++};
  pending_[ticket.value % num_tickets] = {&lane, lane.start(request)};
  progress();
  return ticket;
}

Status GroupCommunicator::check(std::int64_t count) const {
  if (count >= 0 && count <= max_elements) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("a collective of {} elements", count));
}

Status GroupCommunicator::check_summable(DType dtype) const {
  if (is_summable(dtype)) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("{} cannot be summed over ranks", to_string(dtype)));
}

Status GroupCommunicator::check_rank(Rank rank) const {
  if (rank.value < world_size_) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("rank {} in a group of {}", rank.value, world_size_));
}

Lane& GroupCommunicator::pair_lane(std::int64_t from, std::int64_t to) {
  const AddressBook& addresses = *this;
  auto& lane = pairs_[{from, to}];
  if (lane == nullptr) lane = std::make_unique<Lane>(board_, addresses, pair_members(board_, from, to, rank_.value));
  return *lane;
}

void GroupCommunicator::progress() {
  world_->progress();
  for (auto& [ranks, lane] : pairs_) lane->progress();
}

template <class Condition>
Status GroupCommunicator::wait_until(const Lane& lane, std::uint64_t sequence, const Condition& is_over) {
  const Deadline deadline = Clock::now() + timeout_;
  Deadline next_check = Clock::now() + liveness_interval;
  while (true) {
    DTJ_TRY(board_.status());
    const std::uint32_t seen = board_.event();
    progress();
    if (is_over()) return board_.status();
    for (int spin = 0; spin < spins_ && board_.event() == seen; ++spin) relax();
    const Deadline now = Clock::now();
    if (now >= next_check) {
      check_peers(lane, sequence);
      next_check = now + liveness_interval;
    }
    if (now >= deadline) give_up(lane, sequence);
    // A failure or anything new has changed the event, and then this returns at once.
    board_.sleep(seen, std::min<Duration>(longest_sleep, deadline - now));
  }
}

void GroupCommunicator::check_peers(const Lane& lane, std::uint64_t sequence) const {
  for (const std::int64_t peer : lane.missing(sequence)) {
    const auto state = static_cast<MemberState>(board_.member(peer).state.load(std::memory_order_acquire));
    std::optional<std::string> cause;
    if (state == MemberState::left) {
      cause = "left the group";
    } else {
      cause = cause_of_death(peer);
    }
    if (!cause) continue;
    // It may have done its part just before it ended.
    const std::vector<std::int64_t> still = lane.missing(sequence);
    if (std::find(still.begin(), still.end(), peer) == still.end()) continue;
    board_.fail(ErrorCode::aborted, fmt::format("{}: rank {} {}", lane.describe(sequence), peer, *cause));
    return;
  }
}

void GroupCommunicator::give_up(const Lane& lane, std::uint64_t sequence) const {
  std::vector<std::int64_t> absent, slow;
  for (const std::int64_t peer : lane.missing(sequence)) {
    (lane.has_arrived(sequence, peer) ? slow : absent).push_back(peer);
  }
  const std::string what = absent.empty()
                               ? fmt::format("{} did not finish within {} s", name_ranks(slow), seconds(timeout_))
                               : fmt::format("{} did not arrive within {} s", name_ranks(absent), seconds(timeout_));
  board_.fail(ErrorCode::deadline_exceeded, fmt::format("{}: {}", lane.describe(sequence), what));
}

std::string GroupCommunicator::name_ranks(const std::vector<std::int64_t>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace dtj::comm::group
