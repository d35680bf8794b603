#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "engine/checkpoint/import_weights.hpp"
#include "tests/parity/parity_support.hpp"

// Transformer layers, optimizers, schedules and imported weights against PyTorch. make_transformer_golden.py wrote the
// files.

using namespace dtj;
using test::buffers_of;
using test::RankUnderTest;
using test::relative_error;
using test::Tensors;

namespace {

constexpr int num_steps = 10;
constexpr double loss_tolerance = 1e-5;
constexpr double gradient_tolerance = 1e-4;

const std::string folder = std::string(DTJ_SOURCE_DIR) + "/tests/parity/";

std::string golden_path(const std::string& name) { return folder + "golden/" + name + ".safetensors"; }

void check_scalar(double found, double expected, double tolerance) {
  INFO("found " << found << ", expected " << expected);
  CHECK(std::abs(found - expected) <= tolerance * std::abs(expected));
}

/// Ten steps of a job. `prefix` stands before the names of its results; batches are shared.
class Replay {
 public:
  Replay(const plan::ExecutionPlan& plan, const Tensors& golden, std::string prefix = "")
      : plan_(plan), golden_(golden), prefix_(std::move(prefix)), rank_(plan) {}

  RankUnderTest& rank() { return rank_; }

  void start_from_init() {
    for (const auto& [param, buffer] : buffers_of(plan_, plan::BufferClass::param))
      rank_.write(buffer, golden_.at("init/" + param).bytes);
  }

  void check_steps() {
    const auto losses = golden_.at(prefix_ + "loss").as<float>();
    const auto norms = golden_.at(prefix_ + "norm").as<float>();
    const auto rates = golden_.at(prefix_ + "rate").as<double>();
    for (int step = 0; step < num_steps; ++step) {
      INFO(prefix_ << " step " << step);
      const auto at = static_cast<std::size_t>(step);
      load_batch(step);
      rank_.run(plan_.micro_only);
      check_scalar(rank_.floats(plan_.ports.train_metrics.at(0))[0], losses[at], loss_tolerance);
      if (step == 0) check_gradients();
      rank_.update(step);
      check_scalar(rank_.floats(*plan_.ports.gradient_norm)[0], norms[at], gradient_tolerance);
      check_scalar(rank_.floats(*plan_.ports.learning_rate)[0], rates[at], 1e-6);
    }
  }

  void load_batch(int step) {
    rank_.write(plan_.ports.train_batch.at(0), golden_.at("input/" + std::to_string(step)).bytes);
    rank_.write(plan_.ports.train_batch.at(1), golden_.at("target/" + std::to_string(step)).bytes);
  }

  /// As PyTorch: one gradient per parameter that is trained, none for the others.
  void check_gradients() {
    const std::string key = prefix_ + "grad/";
    const auto num_expected = std::count_if(golden_.begin(), golden_.end(),
                                            [&](const auto& entry) { return entry.first.rfind(key, 0) == 0; });
    const auto gradients = buffers_of(plan_, plan::BufferClass::gradient);
    CHECK(gradients.size() == static_cast<std::size_t>(num_expected));
    for (const auto& [name, buffer] : gradients) {
      INFO(name);
      CHECK(relative_error(rank_.floats(buffer), expected(key, name.substr(std::string("gradient.").size()))) <=
            gradient_tolerance);
    }
  }

  void check_final(double tolerance = 1e-4) {
    for (const auto& [param, buffer] : buffers_of(plan_, plan::BufferClass::param)) {
      INFO(prefix_ << param);
      CHECK(relative_error(rank_.floats(buffer), expected(prefix_ + "final/", param)) <= tolerance);
    }
  }

  /// A tensor of the file, turned round where the file stores it the other way.
  std::vector<float> expected(const std::string& key, const std::string& param) {
    std::string name = param;
    bool transpose = false;
    if (plan_.job.weights) {
      for (const auto& source : plan_.job.weights->sources) {
        if (source.param != param) continue;
        name = source.tensor;
        transpose = source.transpose;
      }
    }
    REQUIRE(golden_.count(key + name) == 1);
    const auto& tensor = golden_.at(key + name);
    auto values = tensor.as<float>();
    if (!transpose) return values;
    const auto rows = static_cast<std::size_t>(tensor.shape.at(0));
    const auto columns = static_cast<std::size_t>(tensor.shape.at(1));
    std::vector<float> turned(values.size());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) turned[c * rows + r] = values[r * columns + c];
    return turned;
  }

 private:
  const plan::ExecutionPlan& plan_;
  const Tensors& golden_;
  std::string prefix_;
  RankUnderTest rank_;
};

std::vector<checkpoint::TensorTarget> targets_of(const plan::ExecutionPlan& plan, RankUnderTest& rank) {
  std::vector<checkpoint::TensorTarget> targets;
  for (const auto& spec : plan.tensors) {
    const auto& buffer = plan.buffers[spec.buffer.value];
    targets.push_back({buffer.name, buffer.dtype, buffer.shape, rank.data(spec.buffer)});
  }
  return targets;
}

plan::ExecutionPlan compile_job(const std::string& name) {
  check::CheckOptions options;
  options.job = name;
  return test::compile(folder + "optimizers.dtj", options);
}

void check_optimizer(const std::string& name) {
  const Tensors golden = test::read_safetensors(golden_path("optimizers"));
  const auto plan = compile_job(name);
  Replay replay(plan, golden, name + "/");
  replay.start_from_init();
  replay.check_steps();
  replay.check_final();
}

}  // namespace

TEST_CASE("parity: a GPT-2 export of Hugging Face loads and trains as in PyTorch", "[parity]") {
  check::CheckOptions options;
  options.bindings["weights"] = golden_path("gpt2_export");
  const auto plan = test::compile(folder + "gpt2.dtj", options);
  const Tensors golden = test::read_safetensors(golden_path("gpt2"));
  Replay replay(plan, golden);
  REQUIRE(plan.job.weights);
  const auto imported = checkpoint::import_weights(*plan.job.weights, targets_of(plan, replay.rank()));
  INFO((imported ? std::string() : imported.error().to_string()));
  REQUIRE(imported);
  CHECK(imported->num_tensors == 28);
  CHECK(imported->initialised.empty());

  replay.load_batch(0);
  replay.rank().run(plan.micro_only);
  double squares = 0;
  const auto logits = golden.at("logits").as<float>();
  for (const float logit : logits) squares += double(logit) * logit;
  check_scalar(replay.rank().floats(plan.ports.train_metrics.at(1))[0], squares / double(logits.size()), loss_tolerance);
  replay.check_steps();
}

TEST_CASE("parity: a Llama-style decoder trains as in PyTorch", "[parity]") {
  const auto plan = test::compile(folder + "llama.dtj");
  const Tensors golden = test::read_safetensors(golden_path("llama"));
  Replay replay(plan, golden);
  replay.start_from_init();
  replay.check_steps();
  replay.check_final();
}

TEST_CASE("parity: SGD with momentum, linear schedule", "[parity]") { check_optimizer("sgd"); }
TEST_CASE("parity: SGD with Nesterov momentum, cosine schedule", "[parity]") { check_optimizer("nesterov"); }
TEST_CASE("parity: Adam, polynomial schedule, clipping by value", "[parity]") { check_optimizer("adam"); }
TEST_CASE("parity: Lion, step schedule", "[parity]") { check_optimizer("lion"); }
TEST_CASE("parity: LAMB, one-cycle schedule", "[parity]") { check_optimizer("lamb"); }
TEST_CASE("parity: AdamW with groups of parameters", "[parity]") { check_optimizer("groups"); }

TEST_CASE("parity: frozen parameters have no gradient, no state and keep their bits", "[parity]") {
  check_optimizer("frozen");
  const Tensors golden = test::read_safetensors(golden_path("optimizers"));
  const auto plan = compile_job("frozen");
  for (const auto& buffer : plan.buffers) {
    if (buffer.cls == plan::BufferClass::gradient || buffer.cls == plan::BufferClass::optimizer)
      CHECK(buffer.name.find("fc1") == std::string::npos);
  }
  Replay replay(plan, golden, "frozen/");
  replay.start_from_init();
  replay.check_steps();
  const auto params = buffers_of(plan, plan::BufferClass::param);
  for (const std::string name : {"fc1.weight", "fc1.bias"}) {
    const auto& bytes = golden.at("init/" + name).bytes;
    CHECK(std::memcmp(replay.rank().data(params.at(name)), bytes.data(), bytes.size()) == 0);
  }
}
