#include <cmath>
#include <string>
#include <vector>

#include "tests/parity/parity_support.hpp"

// Our engine against PyTorch: same initial weights, same batches, ten optimizer steps. make_golden.py wrote the files.

using namespace dtj;
using test::buffers_of;
using test::RankUnderTest;
using test::relative_error;
using test::Tensors;

namespace {

constexpr int num_steps = 10;
constexpr double loss_tolerance = 1e-5;
constexpr double gradient_tolerance = 1e-4;

void check_parity(const std::string& name) {
  const std::string folder = std::string(DTJ_SOURCE_DIR) + "/tests/parity/";
  const Tensors golden = test::read_safetensors(folder + "golden/" + name + ".safetensors");
  const plan::ExecutionPlan plan = test::compile(folder + name + ".dtj");
  RankUnderTest rank(plan);
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
    rank.update(step);
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
