#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gsl/span>

#include "engine/base/ids.hpp"
#include "engine/base/result.hpp"
#include "engine/base/units.hpp"
#include "engine/device/device.hpp"

namespace dtj::comm {

using Ticket = Id<struct TicketTag>;

/// Collectives between the ranks of one group. Every rank calls the same collectives in the same order; every wait ends
/// at the deadline given at creation. Reductions add in one canonical binary tree over ranks, so all ranks get the same
/// bits. One suite (tests/conformance) holds for every implementation.
///
/// Errors of every wait: deadline_exceeded (names the ranks that did not arrive), aborted (a peer died or called abort).
/// After an error the communicator only gives errors.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual Rank rank() const = 0;
  virtual std::int64_t world_size() const = 0;
  virtual std::string name() const = 0;

  /// Collective. Memory that peers can reduce from directly: every rank asks for the same sizes in the same order.
  /// Collectives also accept any other memory, through a staging copy.
  virtual Result<device::Memory> allocate(Bytes size) = 0;

  /// In-place sum over all ranks, f32 / f64 / bf16 (accumulates in f32) / i32 / i64. `data` must stay untouched until `wait`.
  virtual Result<Ticket> all_reduce_start(void* data, std::int64_t count, DType dtype) = 0;
  /// `data` holds world_size * count elements; afterwards the slice of this rank holds the sum of all ranks' slices.
  virtual Result<Ticket> reduce_scatter_start(void* data, std::int64_t count, DType dtype) = 0;
  /// `data` holds world_size * count elements; the slice of each rank is filled from that rank.
  virtual Result<Ticket> all_gather_start(void* data, std::int64_t count, DType dtype) = 0;
  virtual Result<Ticket> broadcast_start(void* data, std::int64_t count, DType dtype, Rank root) = 0;
  /// send and recv hold world_size * count elements; recv[p] = what rank p sent to this rank.
  virtual Result<Ticket> all_to_all_start(const void* send, void* recv, std::int64_t count, DType dtype) = 0;
  virtual Result<Ticket> send_start(const void* data, std::int64_t count, DType dtype, Rank to) = 0;
  virtual Result<Ticket> recv_start(void* data, std::int64_t count, DType dtype, Rank from) = 0;
  virtual Status wait(Ticket ticket) = 0;
  virtual Status barrier() = 0;

  /// Makes every wait of every rank fail with `aborted` and this reason. Safe from any thread.
  virtual void abort(const std::string& reason) = 0;

  // start + wait
  Status all_reduce(void* data, std::int64_t count, DType dtype);
  Status all_gather(void* data, std::int64_t count, DType dtype);
  Status reduce_scatter(void* data, std::int64_t count, DType dtype);
  Status broadcast(void* data, std::int64_t count, DType dtype, Rank root);
  Status all_to_all(const void* send, void* recv, std::int64_t count, DType dtype);
};

/// `world_size` communicators for threads of one process, connected to each other.
Result<std::vector<std::unique_ptr<Communicator>>> make_local_communicators(std::int64_t world_size, Duration timeout);

struct ShmOptions {
  /// Name of the POSIX shared memory segment, "/dtj-<hex>"; the same on all ranks of a job and on no other job.
  std::string segment;
  Rank rank;
  std::int64_t world_size = 1;
  Duration timeout = std::chrono::seconds(60);
};

/// Processes of one host. Collective: returns when all ranks have joined, or deadline_exceeded naming the missing ones.
/// A peer that died is noticed within a second in any wait. The segment is unlinked once all have joined.
Result<std::unique_ptr<Communicator>> make_shm_communicator(const ShmOptions& options);

/// A group of one.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace dtj::comm
