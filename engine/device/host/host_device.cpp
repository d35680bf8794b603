#include <utility>

#include <fmt/format.h>

#include "engine/device/device.hpp"
#include "engine/device/host/gemm.hpp"
#include "engine/device/host/worker_pool.hpp"
#include "engine/device/host_memory.hpp"

namespace dtj::device {
namespace {

class HostDevice final : public Device {
 public:
  explicit HostDevice(std::unique_ptr<WorkerPool> pool) : pool_(std::move(pool)), gemm_(*pool_) {}

  std::string name() const override { return fmt::format("host, {} threads", pool_->num_threads()); }

  Result<Memory> allocate(Bytes size) override { return allocate_host_memory(size); }

  void parallel_for(std::int64_t work_items, std::int64_t grain,
                    const std::function<void(std::int64_t, std::int64_t)>& body) override {
    pool_->run(work_items, grain, [&body](int, std::int64_t begin, std::int64_t end) { body(begin, end); });
  }

  Status gemm(const plan::GemmStep& step, DType a_dtype, DType c_dtype, const void* a, const void* b,
              void* c) override {
    return gemm_.run(step, a_dtype, c_dtype, a, b, c);
  }

  int num_threads() const override { return pool_->num_threads(); }

 private:
  std::unique_ptr<WorkerPool> pool_;
  HostGemm gemm_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_host_device(const HostDeviceOptions& options) {
  DTJ_TRY_ASSIGN(auto pool, WorkerPool::create(options.num_threads, options.cores));
  return std::unique_ptr<Device>(std::make_unique<HostDevice>(std::move(pool)));
}

}  // namespace dtj::device
