#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/group/board.hpp"
#include "engine/comm/group/transfer.hpp"

namespace dtj::comm::group {

/// Turns what a peer published about its memory into an address of this process.
class AddressBook {
 public:
  struct Reference {
    std::int64_t region = -1;
    std::int64_t offset = 0;
  };

  virtual ~AddressBook() = default;
  /// none = only this rank can reach these bytes.
  virtual std::optional<Reference> find(const void* data, std::int64_t bytes) const = 0;
  virtual std::byte* resolve(std::int64_t rank, Reference reference) const = 0;
};

/// What a rank asks for.
struct Request {
  Op op = Op::barrier;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  std::size_t root = 0;
  const void* send = nullptr;
  void* recv = nullptr;
};

/// Who takes part in a lane, and the shared memory of each. Participant i is rank `ranks[i]`.
struct LaneMembers {
  std::vector<std::int64_t> ranks;
  std::size_t me = 0;
  std::vector<Slot*> slots;         ///< `slots_per_lane` of each participant
  std::vector<std::byte*> staging;  ///< of each participant
  std::int64_t staging_bytes = 0;
};

/// A sequence of operations between the same participants in the same order. The state machine of one operation:
/// arrive (publish the header) -> per chunk: load staging, wait until all are ready, work, wait until all are done.
/// Memory that every peer can address skips the staging and has one chunk.
class Lane {
 public:
  Lane(const Board& board, const AddressBook& addresses, LaneMembers members);

  /// The slot of the next operation is free.
  bool has_room() const { return next_ - first_open_ < slots_per_lane; }
  /// Publishes this rank's arrival and gives the sequence number. Requires room.
  std::uint64_t start(const Request& request);
  /// Does whatever can be done now, without waiting. Failures go to the board.
  void progress();
  bool is_finished(std::uint64_t sequence) const;
  std::uint64_t oldest_open() const { return first_open_; }
  std::uint64_t next() const { return next_; }

  /// "all_reduce #12 (65536 x f32)"
  std::string describe(std::uint64_t sequence) const;
  /// The ranks that this operation is still waiting for.
  std::vector<std::int64_t> missing(std::uint64_t sequence) const;
  /// Whether they have not even started it.
  bool has_arrived(std::uint64_t sequence, std::int64_t rank) const;

 private:
  enum class Stage { arriving, loading, reading, finishing, finished };

  struct Operation {
    std::uint64_t sequence = 0;
    Stage stage = Stage::finished;
    Transfer transfer;
    std::vector<bool> seen;
    std::vector<OpHeader> headers;  ///< of each participant, once seen
  };

  static std::uint64_t ready_phase(const Transfer& transfer) {
    return static_cast<std::uint64_t>(2 * transfer.chunk + 1);
  }
  static std::uint64_t done_phase(const Transfer& transfer) {
    return static_cast<std::uint64_t>(2 * transfer.chunk + 2);
  }

  Operation& operation(std::uint64_t sequence) { return operations_[sequence % slots_per_lane]; }
  const Operation& operation(std::uint64_t sequence) const { return operations_[sequence % slots_per_lane]; }
  Slot& slot(std::size_t participant, std::uint64_t sequence) const {
    return members_.slots[participant][sequence % slots_per_lane];
  }

  /// One transition; false when the operation has to wait for somebody.
  bool advance(Operation& op, bool may_stage);
  bool meet(Operation& op);
  bool check_header(const Operation& op, std::size_t participant);
  void choose_memory(Operation& op);
  void finish_chunk(Operation& op);
  void publish(const Operation& op, std::uint64_t phase);
  bool all_reached(const Operation& op, std::uint64_t phase) const;
  std::uint64_t phase_of(const Operation& op, std::size_t participant) const;
  std::string describe(const OpHeader& header, std::uint64_t sequence) const;

  const Board& board_;
  const AddressBook& addresses_;
  LaneMembers members_;
  std::vector<Operation> operations_;
  std::uint64_t next_ = 1;
  std::uint64_t first_open_ = 1;
};

}  // namespace dtj::comm::group
