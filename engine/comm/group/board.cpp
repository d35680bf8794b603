#include "engine/comm/group/board.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>

namespace dtj::comm::group {
namespace {

// The kernel's futex, not std::atomic::wait: the latter is private to one process.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void Board::notify() const {
  control().event.fetch_add(1, std::memory_order_seq_cst);
  if (control().num_sleepers.load(std::memory_order_seq_cst) != 0) futex(control().event, FUTEX_WAKE, INT_MAX, nullptr);
}

void Board::sleep(std::uint32_t seen, Duration timeout) const {
  if (event() != seen) return;
  const auto nanoseconds = std::max<std::int64_t>(timeout.count(), 0);
  const timespec limit{static_cast<time_t>(nanoseconds / 1'000'000'000),
                       static_cast<long>(nanoseconds % 1'000'000'000)};
  control().num_sleepers.fetch_add(1, std::memory_order_seq_cst);
  futex(control().event, FUTEX_WAIT, seen, &limit);
  control().num_sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

void Board::fail(ErrorCode code, const std::string& reason) const {
  Control& shared = control();
  std::uint32_t none = 0;
  if (!shared.failure.compare_exchange_strong(none, 1, std::memory_order_acq_rel)) return;
  shared.failure_code = static_cast<std::uint32_t>(code);
  const std::size_t length = std::min(reason.size(), shared.reason.size() - 1);
  std::memcpy(shared.reason.data(), reason.data(), length);
  shared.reason[length] = '\0';
  shared.failure.store(2, std::memory_order_release);
  notify();
}

Status Board::status() const {
  std::uint32_t state = control().failure.load(std::memory_order_acquire);
  if (state == 0) return {};
  for (int spin = 0; state == 1 && spin < 1'000'000; ++spin) {
    relax();
    state = control().failure.load(std::memory_order_acquire);
  }
  // The writer died between the two stores.
  if (state == 1) return dtj::fail(ErrorCode::aborted, "a rank failed");
  return dtj::fail(static_cast<ErrorCode>(control().failure_code), control().reason.data());
}

}  // namespace dtj::comm::group
