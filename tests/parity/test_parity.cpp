#include <cmath>
#include <cstring>
#include <map>

#include "compiler/codegen/host/kernel_compiler.hpp"
#include "compiler/compile.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/device/device.hpp"
#include "engine/run/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/safetensors_file.hpp"

// Our engine against PyTorch: same initial weights, same batches, ten optimizer steps. make_golden.py wrote the files.

using namespace dtj;
using Tensors = std::map<std::string, test::RawTensor>;

namespace {

constexpr int num_steps = 10;
constexpr double loss_tolerance = 1e-5;
constexpr double gradient_tolerance = 1e-4;

plan::ExecutionPlan compile(const std::string& path) {
  CompileRequest request;
  request.path = path;
  auto compiled = dtj::compile(request);
  REQUIRE(compiled);
  INFO(diag::render_text(compiled->sink.sorted(), *compiled->sources, {}));
  REQUIRE(compiled->plan);
  return std::move(*compiled->plan);
}

/// |a - b| / |b| over all elements.
double relative_error(const float* a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
    norm += double(b[i]) * b[i];
  }
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

class Rank {
 public:
  explicit Rank(const plan::ExecutionPlan& plan) : plan_(plan) {
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
  const float* floats(plan::BufferId buffer) { return reinterpret_cast<const float*>(executor_->data(buffer)); }
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

std::map<std::string, plan::BufferId> buffers_of(const plan::ExecutionPlan& plan, plan::BufferClass cls) {
  std::map<std::string, plan::BufferId> found;
  for (std::uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].cls == cls) found[plan.buffers[i].name] = plan::BufferId{i};
  }
  return found;
}

void check_parity(const std::string& name) {
  const std::string folder = std::string(DTJ_SOURCE_DIR) + "/tests/parity/";
  const Tensors golden = test::read_safetensors(folder + "golden/" + name + ".safetensors");
  const plan::ExecutionPlan plan = compile(folder + name + ".dtj");
  Rank rank(plan);
  const auto params = buffers_of(plan, plan::BufferClass::param);
  for (const auto& [param, buffer] : params) {
    INFO(param);
    REQUIRE(golden.count("init/" + param) == 1);
    rank.write(buffer, golden.at("init/" + param).bytes);
  }
  const auto losses = golden.at("loss").as<float>();
  const auto norms = golden.at("norm").as<float>();
  for (int step = 0; step < num_steps; ++step) {
    INFO("step " << step);
    rank.write(plan.ports.train_batch.at(0), golden.at("input/" + std::to_string(step)).bytes);
    rank.write(plan.ports.train_batch.at(1), golden.at("target/" + std::to_string(step)).bytes);
    rank.run(plan.micro_only);
    const double loss = rank.floats(plan.ports.train_metrics.at(0))[0];
    CHECK(std::abs(loss - losses[std::size_t(step)]) <= loss_tolerance * std::abs(losses[std::size_t(step)]));
    if (step == 0) {
      const auto gradients = buffers_of(plan, plan::BufferClass::gradient);
      REQUIRE(gradients.size() == params.size());
      for (const auto& [gradient, buffer] : gradients) {
        const std::string param = gradient.substr(std::string("gradient.").size());
        INFO(gradient);
        REQUIRE(golden.count("grad/" + param) == 1);
        CHECK(relative_error(rank.floats(buffer), golden.at("grad/" + param).as<float>()) <= gradient_tolerance);
      }
    }
    const double step_number = step;
    rank.write(*plan.ports.step, std::string(reinterpret_cast<const char*>(&step_number), sizeof(step_number)));
    rank.run(plan.update);
    CHECK(std::abs(rank.floats(*plan.ports.gradient_norm)[0] - norms[std::size_t(step)]) <= 1e-4 * norms[std::size_t(step)]);
  }
  for (const auto& [param, buffer] : params) {
    INFO(param);
    const auto expected = golden.at("final/" + param).as<float>();
    // The softmax does not see the bias of the keys: its gradient is zero but for rounding, which Adam makes into steps.
    const bool has_key_bias = param.size() > 8 && param.compare(param.size() - 8, 8, "qkv.bias") == 0;
    const std::size_t part = has_key_bias ? expected.size() / 3 : expected.size();
    for (std::size_t begin = 0; begin < expected.size(); begin += has_key_bias ? 2 * part : part) {
      const std::vector<float> some(expected.begin() + std::ptrdiff_t(begin), expected.begin() + std::ptrdiff_t(begin + part));
      CHECK(relative_error(rank.floats(buffer) + begin, some) <= 1e-4);
    }
  }
}

}  // namespace

TEST_CASE("parity: the MLP trains as in PyTorch", "[parity]") { check_parity("mlp"); }

TEST_CASE("parity: the 2-layer GPT trains as in PyTorch", "[parity]") { check_parity("gpt"); }
