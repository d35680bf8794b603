#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/compile.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/device/device.hpp"
#include "engine/run/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/safetensors_file.hpp"

// One rank of a compiled job, whose buffers a test reads and writes by name.

namespace dtj::test {

using Tensors = std::map<std::string, RawTensor>;

inline plan::ExecutionPlan compile(const std::string& path, const check::CheckOptions& options = {}) {
  CompileRequest request;
  request.path = path;
  request.check = options;
  auto compiled = dtj::compile(request);
  REQUIRE(compiled);
  INFO(diag::render_text(compiled->sink.sorted(), *compiled->sources, {}));
  REQUIRE(compiled->plan);
  return std::move(*compiled->plan);
}

/// |a - b| / |b| over all elements.
inline double relative_error(const float* a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
    norm += double(b[i]) * b[i];
  }
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

class RankUnderTest {
 public:
  explicit RankUnderTest(const plan::ExecutionPlan& plan) : plan_(plan) {
    device_ = std::move(*device::make_host_device({}));
    communicator_ = comm::make_self_communicator();
    loader_ = std::move(*codegen::make_host_kernel_loader());
    auto executor = run::Executor::create(plan_, *device_, *communicator_, *loader_, nullptr);
    REQUIRE(executor);
    executor_ = std::move(*executor);
  }

  void write(plan::BufferId buffer, const std::string& bytes) {
    REQUIRE(plan_.buffers[buffer.value].size == std::int64_t(bytes.size()));
    std::memcpy(executor_->data(buffer), bytes.data(), bytes.size());
  }
  std::byte* data(plan::BufferId buffer) { return executor_->data(buffer); }
  const float* floats(plan::BufferId buffer) { return reinterpret_cast<const float*>(executor_->data(buffer)); }
  /// The step number, then the update.
  void update(int step) {
    const double number = step;
    write(*plan_.ports.step, std::string(reinterpret_cast<const char*>(&number), sizeof(number)));
    run(plan_.update);
  }
  void run(const plan::Program& program) {
    const auto status = executor_->run(program);
    INFO((status ? std::string() : status.error().to_string()));
    REQUIRE(status);
  }

 private:
  const plan::ExecutionPlan& plan_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<comm::Communicator> communicator_;
  std::unique_ptr<device::KernelLoader> loader_;
  std::unique_ptr<run::Executor> executor_;
};

inline std::map<std::string, plan::BufferId> buffers_of(const plan::ExecutionPlan& plan, plan::BufferClass cls) {
  std::map<std::string, plan::BufferId> found;
  for (std::uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].cls == cls) found[plan.buffers[i].name] = plan::BufferId{i};
  }
  return found;
}

}  // namespace dtj::test
