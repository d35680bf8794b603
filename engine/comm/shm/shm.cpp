#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/comm/communicator.hpp"
#include "engine/comm/group/group_communicator.hpp"
#include "engine/comm/shm/join.hpp"
#include "engine/comm/shm/segment.hpp"
#include "engine/device/host_memory.hpp"

namespace dtj::comm {
namespace {

/// Memory of all ranks side by side in the shared segment. Shared with the Memory given to the user, which may outlive
/// the communicator.
struct Region {
  std::unique_ptr<shm::Mapping> mapping;
  std::int64_t stride = 0;  ///< bytes from one rank's part to the next
  std::int64_t size = 0;    ///< usable bytes of each part
  bool is_released = false;
};

class ShmCommunicator final : public group::GroupCommunicator {
 public:
  ShmCommunicator(Rank rank, std::int64_t world_size, const group::Board& board, shm::Joined joined, Duration timeout)
      : GroupCommunicator(rank, world_size, board, timeout), joined_(std::move(joined)) {}
  ~ShmCommunicator() override { leave(); }

  std::string name() const override { return fmt::format("shm, {} processes", world_size()); }

  Result<device::Memory> allocate(Bytes size) override;

 protected:
  std::optional<Reference> find(const void* data, std::int64_t bytes) const override;
  std::byte* resolve(std::int64_t rank, Reference reference) const override {
    const Region& region = *regions_[static_cast<std::size_t>(reference.region)];
    return region.mapping->data() + rank * region.stride + reference.offset;
  }
  std::optional<std::string> cause_of_death(std::int64_t rank) const override {
    if (!shm::has_ended(board(), rank)) return std::nullopt;
    return fmt::format("died (process {})", board().member(rank).pid);
  }

 private:
  Status agree_on_size(Bytes size);
  /// Rank 0 takes file space for all; -1 on every rank when there is none.
  Result<std::int64_t> take_space(std::int64_t bytes);
  device::Memory register_region(std::shared_ptr<Region> region);

  shm::Joined joined_;
  std::vector<std::shared_ptr<Region>> regions_;
};

Result<device::Memory> ShmCommunicator::allocate(Bytes size) {
  if (size.count < 0) return fail(ErrorCode::invalid_argument, "a negative number of bytes");
  DTJ_TRY(agree_on_size(size));
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  const std::int64_t stride = (std::max<std::int64_t>(size.count, 1) + page - 1) / page * page;
  DTJ_TRY_ASSIGN(const std::int64_t offset, take_space(stride * world_size()));

  auto region = std::make_shared<Region>();
  region->stride = stride;
  region->size = size.count;
  std::int32_t num_unmapped = 1;
  if (offset >= 0) {
    if (auto mapping = joined_.segment.map(offset, stride * world_size())) {
      region->mapping = std::move(*mapping);
      num_unmapped = 0;
    }
  }
  // All or none: a region that one rank cannot address is of no use to the others.
  DTJ_TRY(all_reduce(&num_unmapped, 1, DType::i32));
  // /dev/shm may be small, in containers above all; private memory works too, with a copy more.
  if (num_unmapped != 0) return device::allocate_host_memory(size);
  return register_region(std::move(region));
}

Status ShmCommunicator::agree_on_size(Bytes size) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
  sizes[rank().value] = size.count;
  DTJ_TRY(all_gather(sizes.data(), 1, DType::i64));
  for (std::size_t peer = 0; peer < sizes.size(); ++peer) {
    if (sizes[peer] == sizes[0]) continue;
    const std::string reason =
        fmt::format("shared allocation: rank 0 asks for {} bytes, rank {} for {}", sizes[0], peer, sizes[peer]);
    board().fail(ErrorCode::invalid_argument, reason);
    return board().status();
  }
  return {};
}

Result<std::int64_t> ShmCommunicator::take_space(std::int64_t bytes) {
  std::int64_t offset = -1;
  if (rank().value == 0) {
    const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    const std::int64_t end = (joined_.segment.size() + page - 1) / page * page;
    if (joined_.segment.reserve(end, bytes)) offset = end;
  }
  DTJ_TRY(broadcast(&offset, 1, DType::i64, Rank{0}));
  return offset;
}

device::Memory ShmCommunicator::register_region(std::shared_ptr<Region> region) {
  // The place of a released region is not used again: all ranks count regions alike without speaking about it.
  regions_.push_back(region);
  std::byte* own = region->mapping->data() + static_cast<std::int64_t>(rank().value) * region->stride;
  const auto size = static_cast<std::size_t>(region->size);
  return device::Memory(own, size, [region](std::byte*, std::size_t) { region->is_released = true; });
}

std::optional<group::AddressBook::Reference> ShmCommunicator::find(const void* data, std::int64_t bytes) const {
  const auto* start = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& region = *regions_[i];
    if (region.is_released) continue;
    const std::byte* own = region.mapping->data() + static_cast<std::int64_t>(rank().value) * region.stride;
    const std::less_equal<> is_before;
    if (is_before(own, start) && is_before(start, own + region.size) && bytes <= own + region.size - start) {
      return Reference{static_cast<std::int64_t>(i), start - own};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Communicator>> make_shm_communicator(const ShmOptions& options) {
  auto joined = shm::join(options);
  if (!joined) return fail_with(std::move(joined.error()), fmt::format("rank {}", options.rank.value));
  const group::Board board(joined->mapping->data(), group::Layout(options.world_size, true));
  return std::unique_ptr<Communicator>(
      std::make_unique<ShmCommunicator>(options.rank, options.world_size, board, std::move(*joined), options.timeout));
}

}  // namespace dtj::comm
