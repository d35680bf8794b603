#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/result.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/device/device.hpp"
#include "engine/device/kernel_loader.hpp"
#include "engine/monitor/journal.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::run {

/// Where a rank's time went, in seconds.
struct TimeSplit {
  double compute = 0;
  double communication = 0;  ///< exposed: inside waits
};

/// Walks the programs of one plan on one rank. Owns the arenas. Nothing is allocated after `create`.
class Executor {
 public:
  /// Allocates the arenas (gradients through the communicator: collective), loads kernels, writes constants.
  static Result<std::unique_ptr<Executor>> create(const plan::ExecutionPlan& plan, device::Device& device,
                                                  comm::Communicator& communicator, device::KernelLoader& loader,
                                                  monitor::Journal* journal);
  virtual ~Executor() = default;

  /// Runs one program to its end. Errors carry the step's label and source line. invalid_argument: an index out of range.
  virtual Status run(const plan::Program& program) = 0;
  virtual std::byte* data(plan::BufferId buffer) = 0;
  virtual TimeSplit take_time_split() = 0;
  /// Bytes really allocated, per arena.
  virtual std::vector<Bytes> allocated() const = 0;
};

}  // namespace dtj::run
