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

// Convolutions, pools and normalisations against PyTorch: same initial weights, same batches, ten optimizer steps.
// make_golden_vision.py wrote the files.

using namespace dtj;
using Tensors = std::map<std::string, test::RawTensor>;
using Buffers = std::map<std::string, plan::BufferId>;

namespace {

constexpr int num_steps = 10;

plan::ExecutionPlan compile(const std::string& path) {
  CompileRequest request;
  request.path = path;
  auto compiled = dtj::compile(request);
  INFO((compiled ? std::string() : compiled.error().to_string()));
  REQUIRE(compiled);
  INFO(diag::render_text(compiled->sink.sorted(), *compiled->sources, {}));
  REQUIRE(compiled->plan);
  return std::move(*compiled->plan);
}

/// |a - b| / |b| over all elements.
double relative_error(const float* a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
    norm += double(b[i]) * b[i];
  }
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

class Run {
 public:
  explicit Run(const std::string& name)
      : folder_(std::string(DTJ_SOURCE_DIR) + "/tests/parity/"),
        golden_(test::read_safetensors(folder_ + "golden/" + name + ".safetensors")),
        plan_(compile(folder_ + name + ".dtj")) {
    device_ = std::move(*device::make_host_device({}));
    communicator_ = comm::make_self_communicator();
    loader_ = std::move(*codegen::make_host_kernel_loader());
    auto executor = run::Executor::create(plan_, *device_, *communicator_, *loader_, nullptr);
    REQUIRE(executor);
    executor_ = std::move(*executor);
  }

  void start() {
    for (const auto& [name, buffer] : buffers_of(plan::BufferClass::param)) write(buffer, tensor("init/" + name).bytes);
    for (const auto& [name, buffer] : buffers_of(plan::BufferClass::module_buffer)) {
      const bool is_variance = name.find("running_var") != std::string::npos;
      float* values = floats(buffer);
      std::fill(values, values + plan_.buffers[buffer.value].size / 4, is_variance ? 1.0F : 0.0F);
    }
  }

  void train(int step) {
    const std::string number = std::to_string(step);
    write(plan_.ports.train_batch.at(0), tensor("input/" + number).bytes);
    write(plan_.ports.train_batch.at(1), tensor("target/" + number).bytes);
    run(plan_.micro_only);
    const double expected = tensor("loss").as<float>()[std::size_t(step)];
    CHECK(std::abs(floats(plan_.ports.train_metrics.at(0))[0] - expected) <= 1e-5 * std::abs(expected));
    if (step == 0) check_all("grad/", plan::BufferClass::gradient, "gradient.");
    run(plan_.update);
  }

  void finish() {
    check_all("final/", plan::BufferClass::param, "");
    check_all("buffer/", plan::BufferClass::module_buffer, "");
    write(plan_.ports.eval_batch.at(0), tensor("input/0").bytes);
    write(plan_.ports.eval_batch.at(1), tensor("target/0").bytes);
    run(plan_.evaluate);
    const double expected = tensor("eval_loss").as<float>()[0];
    CHECK(std::abs(floats(plan_.ports.eval_metrics.at(0))[0] - expected) <= 1e-4 * std::abs(expected));
  }

 private:
  const test::RawTensor& tensor(const std::string& name) {
    INFO(name);
    REQUIRE(golden_.count(name) == 1);
    return golden_.at(name);
  }

  Buffers buffers_of(plan::BufferClass cls) const {
    Buffers found;
    for (std::uint32_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.buffers[i].cls == cls) found[plan_.buffers[i].name] = plan::BufferId{i};
    return found;
  }

  void check_all(const std::string& prefix, plan::BufferClass cls, const std::string& own_prefix) {
    std::size_t num_expected = 0;
    for (const auto& [name, value] : golden_) num_expected += name.rfind(prefix, 0) == 0 ? 1 : 0;
    const Buffers buffers = buffers_of(cls);
    CHECK(buffers.size() == num_expected);
    for (const auto& [name, buffer] : buffers) {
      INFO(name);
      CHECK(relative_error(floats(buffer), tensor(prefix + name.substr(own_prefix.size())).as<float>()) <= 1e-4);
    }
  }

  void write(plan::BufferId buffer, const std::string& bytes) {
    REQUIRE(plan_.buffers[buffer.value].size == std::int64_t(bytes.size()));
    std::memcpy(executor_->data(buffer), bytes.data(), bytes.size());
  }
  float* floats(plan::BufferId buffer) { return reinterpret_cast<float*>(executor_->data(buffer)); }
  void run(const plan::Program& program) {
    const auto status = executor_->run(program);
    INFO((status ? std::string() : status.error().to_string()));
    REQUIRE(status);
  }

  std::string folder_;
  Tensors golden_;
  plan::ExecutionPlan plan_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<comm::Communicator> communicator_;
  std::unique_ptr<device::KernelLoader> loader_;
  std::unique_ptr<run::Executor> executor_;
};

void check_parity(const std::string& name) {
  Run run(name);
  run.start();
  for (int step = 0; step < num_steps; ++step) {
    INFO("step " << step);
    run.train(step);
  }
  run.finish();
}

}  // namespace

TEST_CASE("parity: convolutions, pools and normalisations train as in PyTorch", "[parity]") {
  check_parity("vision_cnn");
}

TEST_CASE("parity: the ResNet trains as in PyTorch", "[parity]") { check_parity("vision_resnet"); }
