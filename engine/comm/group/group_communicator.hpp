#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/comm/communicator.hpp"
#include "engine/comm/group/board.hpp"
#include "engine/comm/group/lane.hpp"

namespace dtj::comm::group {

/// What the local and the shared-memory communicators have in common: everything but the memory and how a peer dies.
class GroupCommunicator : public Communicator, protected AddressBook {
 public:
  Rank rank() const override { return rank_; }
  std::int64_t world_size() const override { return world_size_; }

  Result<Ticket> all_reduce_start(void* data, std::int64_t count, DType dtype) override;
  Result<Ticket> reduce_scatter_start(void* data, std::int64_t count, DType dtype) override;
  Result<Ticket> all_gather_start(void* data, std::int64_t count, DType dtype) override;
  Result<Ticket> broadcast_start(void* data, std::int64_t count, DType dtype, Rank root) override;
  Result<Ticket> all_to_all_start(const void* send, void* recv, std::int64_t count, DType dtype) override;
  Result<Ticket> send_start(const void* data, std::int64_t count, DType dtype, Rank to) override;
  Result<Ticket> recv_start(void* data, std::int64_t count, DType dtype, Rank from) override;
  Status wait(Ticket ticket) override;
  Status barrier() override;
  void abort(const std::string& reason) override;

 protected:
  GroupCommunicator(Rank rank, std::int64_t world_size, const Board& board, Duration timeout);
  ~GroupCommunicator() override = default;

  /// "died" with details, when that rank's process has ended without leaving the group.
  virtual std::optional<std::string> cause_of_death(std::int64_t rank) const = 0;

  const Board& board() const { return board_; }
  Duration timeout() const { return timeout_; }
  /// For the destructor of the concrete class: peers that still wait for this rank stop.
  void leave();
  /// "rank 1" or "ranks 1, 3"
  static std::string name_ranks(const std::vector<std::int64_t>& ranks);

 private:
  /// What a ticket stands for.
  struct Pending {
    Lane* lane = nullptr;
    std::uint64_t sequence = 0;
  };

  Result<Ticket> start(Lane& lane, const Request& request);
  Status check(std::int64_t count) const;
  Status check_summable(DType dtype) const;
  Status check_rank(Rank rank) const;
  Lane& pair_lane(std::int64_t from, std::int64_t to);
  void progress();
  /// Until `is_over`: progress, a short spin, then sleep; ends with the group's failure, a dead peer, or the deadline.
  /// `sequence` names the operation in messages.
  template <class Condition>
  Status wait_until(const Lane& lane, std::uint64_t sequence, const Condition& is_over);
  void check_peers(const Lane& lane, std::uint64_t sequence) const;
  void give_up(const Lane& lane, std::uint64_t sequence) const;

  static constexpr std::size_t num_tickets = 256;

  Rank rank_;
  std::int64_t world_size_;
  Board board_;
  Duration timeout_;
  int spins_;
  std::unique_ptr<Lane> world_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Lane>> pairs_;
  std::vector<Pending> pending_;  ///< by ticket, modulo its size
  std::uint32_t next_ticket_ = 0;
};

}  // namespace dtj::comm::group
