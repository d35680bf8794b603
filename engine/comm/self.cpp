#include <atomic>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "engine/comm/communicator.hpp"
#include "engine/comm/group/tree_sum.hpp"
#include "engine/device/host_memory.hpp"

namespace dtj::comm {
namespace {

/// One rank: every collective is over when it starts.
class SelfCommunicator final : public Communicator {
 public:
  Rank rank() const override { return Rank{0}; }
  std::int64_t world_size() const override { return 1; }
  std::string name() const override { return "self"; }
  Result<device::Memory> allocate(Bytes size) override { return device::allocate_host_memory(size); }

  Result<Ticket> all_reduce_start(void*, std::int64_t count, DType dtype) override { return sum(count, dtype); }
  Result<Ticket> reduce_scatter_start(void*, std::int64_t count, DType dtype) override { return sum(count, dtype); }
  Result<Ticket> all_gather_start(void*, std::int64_t count, DType) override { return finish(count); }
  Result<Ticket> broadcast_start(void*, std::int64_t count, DType, Rank root) override {
    if (root.value != 0) return fail(ErrorCode::invalid_argument, fmt::format("rank {} in a group of 1", root.value));
    return finish(count);
  }
  Result<Ticket> all_to_all_start(const void* send, void* recv, std::int64_t count, DType dtype) override {
    auto ticket = finish(count);
    if (ticket && count > 0) std::memmove(recv, send, static_cast<std::size_t>(count) * size_of(dtype));
    return ticket;
  }
  Result<Ticket> send_start(const void*, std::int64_t, DType, Rank) override { return nobody(); }
  Result<Ticket> recv_start(void*, std::int64_t, DType, Rank) override { return nobody(); }
  Status wait(Ticket) override { return status(); }
  Status barrier() override { return status(); }

  void abort(const std::string& reason) override {
    const std::lock_guard lock(mutex_);
    if (!is_aborted_) reason_ = reason;
    is_aborted_ = true;
  }

 private:
  Status status() const {
    if (!is_aborted_) return {};
    const std::lock_guard lock(mutex_);
    return fail(ErrorCode::aborted, reason_);
  }
  Result<Ticket> finish(std::int64_t count) {
    DTJ_TRY(status());
    if (count < 0) return fail(ErrorCode::invalid_argument, fmt::format("a collective of {} elements", count));
    return Ticket{next_++};
  }
  Result<Ticket> sum(std::int64_t count, DType dtype) {
    if (group::is_summable(dtype)) return finish(count);
    return fail(ErrorCode::invalid_argument, fmt::format("{} cannot be summed over ranks", to_string(dtype)));
  }
  Result<Ticket> nobody() const { return fail(ErrorCode::invalid_argument, "a group of one has no peer"); }

  mutable std::mutex mutex_;
  std::string reason_;
  std::atomic<bool> is_aborted_{false};
  std::uint32_t next_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_self_communicator() {
  return std::make_unique<SelfCommunicator>();
}

}  // namespace dtj::comm
