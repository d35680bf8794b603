#include "engine/device/device.hpp"
#include "engine/device/host_memory.hpp"

namespace dtj::device {
namespace {

class NullDevice final : public Device {
 public:
  std::string name() const override { return "null"; }
  Result<Memory> allocate(Bytes size) override { return allocate_host_memory(size); }
  void parallel_for(std::int64_t, std::int64_t, const std::function<void(std::int64_t, std::int64_t)>&) override {}
  Status gemm(const plan::GemmStep&, DType, DType, const void*, const void*, void*) override { return {}; }
  int num_threads() const override { return 1; }
};

}  // namespace

std::unique_ptr<Device> make_null_device() {
  return std::make_unique<NullDevice>();
}

}  // namespace dtj::device
