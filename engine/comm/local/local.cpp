#include <utility>

#include <fmt/format.h>

#include "engine/comm/communicator.hpp"
#include "engine/comm/group/group_communicator.hpp"
#include "engine/device/host_memory.hpp"

namespace dtj::comm {
namespace {

/// Threads see each other's memory, so everything is addressed directly.
class LocalCommunicator final : public group::GroupCommunicator {
 public:
  LocalCommunicator(Rank rank, std::int64_t world_size, const group::Board& board,
                    std::shared_ptr<device::Memory> memory, Duration timeout)
      : GroupCommunicator(rank, world_size, board, timeout), memory_(std::move(memory)) {}
  ~LocalCommunicator() override { leave(); }

  std::string name() const override { return fmt::format("local, {} threads", world_size()); }

  Result<device::Memory> allocate(Bytes size) override { return device::allocate_host_memory(size); }

 protected:
  std::optional<Reference> find(const void* data, std::int64_t) const override {
    return Reference{0, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(data))};
  }
  std::byte* resolve(std::int64_t, Reference reference) const override {
    return reinterpret_cast<std::byte*>(static_cast<std::intptr_t>(reference.offset));
  }
  std::optional<std::string> cause_of_death(std::int64_t) const override { return std::nullopt; }

 private:
  std::shared_ptr<device::Memory> memory_;  ///< of the board; lives as long as the last rank
};

}  // namespace

Result<std::vector<std::unique_ptr<Communicator>>> make_local_communicators(std::int64_t world_size, Duration timeout) {
  if (world_size < 1 || world_size > group::max_world_size) {
    return fail(ErrorCode::invalid_argument, fmt::format("a group of {} ranks", world_size));
  }
  const group::Layout layout(world_size, false);
  DTJ_TRY_ASSIGN(device::Memory memory, device::allocate_host_memory(Bytes{layout.total_bytes()}));
  const auto shared = std::make_shared<device::Memory>(std::move(memory));
  const group::Board board(shared->data(), layout);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    board.member(rank).state.store(static_cast<std::uint32_t>(group::MemberState::joined), std::memory_order_release);
    ranks.push_back(std::make_unique<LocalCommunicator>(Rank{static_cast<std::uint32_t>(rank)}, world_size, board,
                                                        shared, timeout));
  }
  return ranks;
}

}  // namespace dtj::comm
