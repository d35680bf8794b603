#include "engine/comm/group/lane.hpp"

#include <utility>

#include <fmt/format.h>
#include <gsl/assert>

namespace dtj::comm::group {
namespace {

const char* name_of(Op op) {
  switch (op) {
    case Op::barrier:
      return "barrier";
    case Op::all_reduce:
      return "all_reduce";
    case Op::reduce_scatter:
      return "reduce_scatter";
    case Op::all_gather:
      return "all_gather";
    case Op::broadcast:
      return "broadcast";
    case Op::all_to_all:
      return "all_to_all";
    case Op::send_recv:
      return "send/recv";
  }
  return "unknown";
}

/// Bytes that peers read or write in this rank's memory.
std::int64_t shared_bytes(const Request& request, std::size_t num_participants) {
  const std::int64_t bytes = request.count * static_cast<std::int64_t>(size_of(request.dtype));
  const bool is_whole =
      request.op == Op::reduce_scatter || request.op == Op::all_gather || request.op == Op::all_to_all;
  return is_whole ? bytes * static_cast<std::int64_t>(num_participants) : bytes;
}

}  // namespace

Lane::Lane(const Board& board, const AddressBook& addresses, LaneMembers members)
    : board_(board), addresses_(addresses), members_(std::move(members)), operations_(slots_per_lane) {
  for (Operation& op : operations_) {
    op.seen.resize(members_.ranks.size());
    op.headers.resize(members_.ranks.size());
    op.transfer.peers.resize(members_.ranks.size());
    op.transfer.me = members_.me;
  }
}

std::uint64_t Lane::start(const Request& request) {
  Expects(has_room());
  const std::uint64_t sequence = next_++;
  Operation& op = operation(sequence);
  op.sequence = sequence;
  op.stage = Stage::arriving;
  op.seen.assign(members_.ranks.size(), false);
  op.transfer.op = request.op;
  op.transfer.dtype = request.dtype;
  op.transfer.count = request.count;
  op.transfer.root = request.root;
  op.transfer.send = static_cast<const std::byte*>(request.send);
  op.transfer.recv = static_cast<std::byte*>(request.recv);
  op.transfer.chunk = 0;

  OpHeader header;
  header.op = request.op;
  header.dtype = static_cast<std::uint8_t>(request.dtype);
  header.root = static_cast<std::uint32_t>(request.root);
  header.count = request.count;
  // A receiver's memory is written by itself, so only senders need a reference.
  const void* shared = request.send;
  if (const auto found = addresses_.find(shared, shared_bytes(request, members_.ranks.size()))) {
    header.region = found->region;
    header.offset = found->offset;
  }
  Slot& mine = slot(members_.me, sequence);
  header.base_phase = mine.phase.load(std::memory_order_relaxed);
  mine.header = header;
  mine.sequence.store(sequence, std::memory_order_release);
  board_.notify();
  return sequence;
}

bool Lane::is_finished(std::uint64_t sequence) const {
  return sequence < first_open_ || operation(sequence).stage == Stage::finished;
}

void Lane::progress() {
  // The staging memory belongs to one operation at a time; an operation that has not met its peers yet may still need
  // it.
  bool may_stage = true;
  for (std::uint64_t sequence = first_open_; sequence < next_; ++sequence) {
    Operation& op = operation(sequence);
    while (op.stage != Stage::finished && advance(op, may_stage)) {
      if (board_.has_failed()) return;
    }
    const bool leaves_staging = op.stage == Stage::finished || (op.stage != Stage::arriving && !op.transfer.is_staged);
    may_stage = may_stage && leaves_staging;
  }
  while (first_open_ < next_ && operation(first_open_).stage == Stage::finished) ++first_open_;
}

bool Lane::advance(Operation& op, bool may_stage) {
  Transfer& transfer = op.transfer;
  switch (op.stage) {
    case Stage::arriving:
      if (!meet(op)) return false;
      choose_memory(op);
      op.stage = transfer.is_staged ? Stage::loading : Stage::reading;
      return true;
    case Stage::loading:
      if (!may_stage) return false;
      transfer.load_staging();
      publish(op, ready_phase(transfer));
      op.stage = Stage::reading;
      return true;
    case Stage::reading:
      // Without staging, arrival already says that the data is there.
      if (transfer.is_staged && !all_reached(op, ready_phase(transfer))) return false;
      transfer.work();
      publish(op, done_phase(transfer));
      op.stage = Stage::finishing;
      return true;
    case Stage::finishing:
      if (!all_reached(op, done_phase(transfer))) return false;
      finish_chunk(op);
      return true;
    case Stage::finished:
      return false;
  }
  return false;
}

void Lane::finish_chunk(Operation& op) {
  Transfer& transfer = op.transfer;
  if (transfer.is_staged) transfer.unload_staging();
  if (++transfer.chunk < transfer.num_chunks()) {
    op.stage = Stage::loading;
    return;
  }
  op.stage = Stage::finished;
}

bool Lane::meet(Operation& op) {
  bool all_here = true;
  for (std::size_t participant = 0; participant < members_.ranks.size(); ++participant) {
    if (op.seen[participant]) continue;
    const Slot& theirs = slot(participant, op.sequence);
    if (theirs.sequence.load(std::memory_order_acquire) != op.sequence) {
      all_here = false;
      continue;
    }
    op.headers[participant] = theirs.header;
    op.seen[participant] = true;
    if (!check_header(op, participant)) return false;
  }
  return all_here;
}

bool Lane::check_header(const Operation& op, std::size_t participant) {
  // The own header is in the own slot from the start.
  const OpHeader mine = slot(members_.me, op.sequence).header;
  const OpHeader& theirs = op.headers[participant];
  if (theirs.op == mine.op && theirs.dtype == mine.dtype && theirs.count == mine.count && theirs.root == mine.root)
    return true;
  board_.fail(ErrorCode::invalid_argument,
              fmt::format("operation #{} does not match: rank {} calls {}, rank {} calls {}", op.sequence,
                          members_.ranks[members_.me], describe(mine, op.sequence), members_.ranks[participant],
                          describe(theirs, op.sequence)));
  return false;
}

void Lane::choose_memory(Operation& op) {
  Transfer& transfer = op.transfer;
  const bool has_one_sender = transfer.op == Op::broadcast || transfer.op == Op::send_recv;
  bool is_direct = true;
  for (std::size_t participant = 0; participant < members_.ranks.size(); ++participant) {
    const bool gives = transfer.op != Op::barrier && (!has_one_sender || participant == transfer.root);
    if (gives && op.headers[participant].region < 0) is_direct = false;
  }
  transfer.is_staged = !is_direct && transfer.count > 0;
  for (std::size_t participant = 0; participant < members_.ranks.size(); ++participant) {
    const OpHeader& header = op.headers[participant];
    std::byte*& peer = transfer.peers[participant];
    if (transfer.is_staged) {
      peer = members_.staging[participant];
    } else {
      peer =
          header.region < 0 ? nullptr : addresses_.resolve(members_.ranks[participant], {header.region, header.offset});
    }
  }
  transfer.set_chunks(members_.staging_bytes);
}

void Lane::publish(const Operation& op, std::uint64_t phase) {
  const std::uint64_t base = op.headers[members_.me].base_phase;
  slot(members_.me, op.sequence).phase.store(base + phase, std::memory_order_release);
  board_.notify();
}

std::uint64_t Lane::phase_of(const Operation& op, std::size_t participant) const {
  return slot(participant, op.sequence).phase.load(std::memory_order_acquire) - op.headers[participant].base_phase;
}

bool Lane::all_reached(const Operation& op, std::uint64_t phase) const {
  for (std::size_t participant = 0; participant < members_.ranks.size(); ++participant) {
    if (phase_of(op, participant) < phase) return false;
  }
  return true;
}

std::string Lane::describe(const OpHeader& header, std::uint64_t sequence) const {
  if (header.op == Op::barrier) return fmt::format("barrier #{}", sequence);
  std::string detail = fmt::format("{} x {}", header.count, to_string(static_cast<DType>(header.dtype)));
  if (header.op == Op::broadcast) detail += fmt::format(" from rank {}", header.root);
  if (header.op == Op::send_recv)
    detail += fmt::format(" from rank {} to rank {}", members_.ranks[0], members_.ranks[1]);
  return fmt::format("{} #{} ({})", name_of(header.op), sequence, detail);
}

std::string Lane::describe(std::uint64_t sequence) const {
  return describe(slot(members_.me, sequence).header, sequence);
}

bool Lane::has_arrived(std::uint64_t sequence, std::int64_t rank) const {
  for (std::size_t participant = 0; participant < members_.ranks.size(); ++participant) {
    if (members_.ranks[participant] != rank) continue;
    return slot(participant, sequence).sequence.load(std::memory_order_acquire) >= sequence;
  }
  return false;
}

std::vector<std::int64_t> Lane::missing(std::uint64_t sequence) const {
  std::vector<std::int64_t> ranks;
  const Operation& op = operation(sequence);
  if (op.sequence != sequence || op.stage == Stage::finished) return ranks;
  const std::uint64_t needed = op.stage == Stage::finishing ? done_phase(op.transfer) : ready_phase(op.transfer);
  for (std::size_t participant = 0; participant < members_.ranks.size(); ++participant) {
    const bool is_behind = op.stage == Stage::arriving ? !has_arrived(sequence, members_.ranks[participant])
                                                       : phase_of(op, participant) < needed;
    if (participant != members_.me && is_behind) ranks.push_back(members_.ranks[participant]);
  }
  return ranks;
}

}  // namespace dtj::comm::group
