#include "engine/device/host/worker_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <gsl/assert>

namespace dtj::device {
namespace {

// Long enough to bridge the gap between two kernels of a step, short enough not to starve another rank on the core.
constexpr int spins_before_sleep = 2000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Returns when `value` differs from `old`.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int spin = 0; spin < spins_before_sleep; ++spin) {
    const std::uint32_t now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

Status pin(pthread_t thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &set);
  const int error = ::pthread_setaffinity_np(thread, sizeof(set), &set);
  if (error == 0) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("cannot pin a worker to core {}: {}", core, std::strerror(error)));
}

}  // namespace

Result<std::unique_ptr<WorkerPool>> WorkerPool::create(int num_threads, const std::vector<int>& cores) {
  if (num_threads < 1) return fail(ErrorCode::invalid_argument, fmt::format("{} worker threads", num_threads));
  std::unique_ptr<WorkerPool> pool(new WorkerPool(num_threads));
  pool->caller_ = std::this_thread::get_id();
  if (!cores.empty()) {
    cpu_set_t before;
    if (::pthread_getaffinity_np(::pthread_self(), sizeof(before), &before) == 0) pool->caller_affinity_ = before;
    DTJ_TRY(pin(::pthread_self(), cores[0]));
  }
  try {
    for (int worker = 1; worker < num_threads; ++worker) {
      pool->threads_.emplace_back([raw = pool.get(), worker] { raw->serve(worker); });
    }
  } catch (const std::system_error& error) {
    return fail(ErrorCode::unavailable, fmt::format("cannot start {} worker threads: {}", num_threads, error.what()));
  }
  if (!cores.empty()) {
    for (int worker = 1; worker < num_threads; ++worker) {
      const int core = cores[static_cast<std::size_t>(worker) % cores.size()];
      DTJ_TRY(pin(pool->threads_[static_cast<std::size_t>(worker - 1)].native_handle(), core));
    }
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  if (caller_affinity_ && caller_ == std::this_thread::get_id()) {
    ::pthread_setaffinity_np(::pthread_self(), sizeof(*caller_affinity_), &*caller_affinity_);
  }
}

void WorkerPool::run_job(const Job& job) {
  Expects(job.grain > 0);
  if (job.work_items <= 0) return;
  if (num_threads_ == 1 || job.work_items <= job.grain) {
    job.call(job.context, 0, 0, job.work_items);
    return;
  }
  job_ = job;
  num_busy_.store(static_cast<std::uint32_t>(num_threads_ - 1), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  run_part(0);
  for (std::uint32_t busy = num_busy_.load(std::memory_order_acquire); busy != 0;) {
    busy = wait_for_change(num_busy_, busy);
  }
}

void WorkerPool::run_part(int worker) const {
  const std::int64_t num_grains = (job_.work_items + job_.grain - 1) / job_.grain;
  const std::int64_t share = num_grains / num_threads_;
  const std::int64_t extra = num_grains % num_threads_;
  const std::int64_t first = worker * share + std::min<std::int64_t>(worker, extra);
  const std::int64_t last = first + share + (worker < extra ? 1 : 0);
  if (first == last) return;
  job_.call(job_.context, worker, first * job_.grain, std::min(last * job_.grain, job_.work_items));
}

void WorkerPool::serve(int worker) {
  std::uint32_t seen = 0;
  while (true) {
    seen = wait_for_change(generation_, seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    run_part(worker);
    if (num_busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) num_busy_.notify_one();
  }
}

}  // namespace dtj::device
