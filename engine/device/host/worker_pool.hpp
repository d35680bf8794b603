#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <sched.h>

#include "engine/base/result.hpp"

namespace dtj::device {

/// Threads that run the same function over disjoint ranges. The caller is worker 0. One caller at a time.
class WorkerPool {
 public:
  /// Pins worker i to cores[i % size]; an empty list pins nothing. Errors: invalid_argument (a core this process may
  /// not use), unavailable (no more threads).
  static Result<std::unique_ptr<WorkerPool>> create(int num_threads, const std::vector<int>& cores);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls `body(worker, begin, end)`, worker in [0, num_threads), for one range of whole grains per worker. The split
  /// of [0, work_items) depends only on the arguments and the number of threads. Returns when all are done. `body` is
  /// passed by reference, so nothing is allocated.
  template <class Body>
  void run(std::int64_t work_items, std::int64_t grain, const Body& body) {
    run_job({[](const void* context, int worker, std::int64_t begin, std::int64_t end) {
               (*static_cast<const Body*>(context))(worker, begin, end);
             },
             &body, work_items, grain});
  }
  int num_threads() const { return num_threads_; }

 private:
  struct Job {
    void (*call)(const void* context, int worker, std::int64_t begin, std::int64_t end) = nullptr;
    const void* context = nullptr;
    std::int64_t work_items = 0;
    std::int64_t grain = 1;
  };

  explicit WorkerPool(int num_threads) : num_threads_(num_threads) {}
  void run_job(const Job& job);
  void run_part(int worker) const;
  void serve(int worker);

  const int num_threads_;
  std::vector<std::thread> threads_;
  Job job_;
  /// Counts jobs; the workers sleep on it.
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  alignas(64) std::atomic<std::uint32_t> num_busy_{0};
  std::atomic<bool> stopping_{false};
  std::optional<cpu_set_t> caller_affinity_;
  std::thread::id caller_;
};

}  // namespace dtj::device
