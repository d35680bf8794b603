#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temp_dir.hpp"

namespace dtj::test {

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A model of three tensors whose values are a function of the step.
struct Model {
  std::vector<float> weight = std::vector<float>(6);
  std::vector<std::uint16_t> half = std::vector<std::uint16_t>(3);
  std::vector<double> state = std::vector<double>(1);

  explicit Model(std::int64_t step = 0) {
    for (std::size_t i = 0; i < 6; ++i) weight[i] = float(step) + float(i) / 7;
    for (std::size_t i = 0; i < 3; ++i) half[i] = std::uint16_t(step + std::int64_t(i));
    state[0] = double(step) / 3;
  }
  bool operator==(const Model& other) const {
    return weight == other.weight && half == other.half && state == other.state;
  }

  template <class View, class Byte>
  std::vector<View> tensors() {
    return {{"fc.weight", DType::f32, {2, 3}, reinterpret_cast<Byte*>(weight.data())},
            {"fc.half", DType::bf16, {3}, reinterpret_cast<Byte*>(half.data())},
            {"adamw.m/fc.weight", DType::f64, {}, reinterpret_cast<Byte*>(state.data())},
            {"empty", DType::f32, {0, 4}, nullptr}};
  }
  std::vector<checkpoint::TensorView> views() { return tensors<checkpoint::TensorView, const std::byte>(); }
  std::vector<checkpoint::TensorTarget> targets() { return tensors<checkpoint::TensorTarget, std::byte>(); }
};

inline checkpoint::Contract make_contract() {
  checkpoint::Contract contract;
  contract.job = "tiny";
  contract.world_size = 2;
  contract.mesh.dp = 2;
  contract.global_batch = 128;
  contract.micro_batch = 64;
  contract.seed = 1234;
  return contract;
}

inline checkpoint::Manifest make_manifest(std::int64_t step) {
  checkpoint::Manifest manifest;
  manifest.plan_hash = 0xFEDCBA9876543210u;
  manifest.contract = make_contract();
  manifest.state = {step, 3, 256, 0x8000000000000001u, 77, 0.1, 12.5, {{"loss", 1.0 / 3}}};
  return manifest;
}

/// A folder of checkpoints and what it warned about.
struct Folder {
  TempDir dir;
  std::vector<std::string> warnings;
  Logger log = [this](LogLevel, std::string_view message) { warnings.emplace_back(message); };

  std::string path() const { return dir.path().string(); }
  std::string step(std::int64_t number) const { return dir.file("step-0000000" + std::to_string(number)); }
  std::string shard(std::int64_t number) const { return step(number) + "/shard-00000-of-00001.safetensors"; }
  std::string manifest(std::int64_t number) const { return step(number) + "/manifest.json"; }

  Result<checkpoint::SavedCheckpoint> save(std::int64_t number, std::int64_t keep = 9) {
    Model model(number);
    return checkpoint::save(path(), keep, make_manifest(number), model.views(), log);
  }
  /// Step of the newest valid checkpoint after loading it; -1 = error.
  std::int64_t newest() {
    const auto found = checkpoint::find_newest(path(), log);
    if (!found || !*found) return -1;
    Model model;
    if (!checkpoint::load(**found, model.targets())) return -1;
    const std::int64_t number = (*found)->manifest.state.step;
    return model == Model(number) ? number : -1;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

using Names = std::vector<std::string>;

}  // namespace dtj::test
