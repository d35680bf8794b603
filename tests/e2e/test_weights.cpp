#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/safetensors_file.hpp"

// Whole runs that start from the weights of another program, and runs with frozen parameters.

using namespace dtj::test;

namespace {

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

void write_weights(const std::string& path, const std::vector<Tensor>& tensors) {
  nlohmann::json header;
  std::string data;
  for (const Tensor& tensor : tensors) {
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  const std::uint64_t size = text.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&size), sizeof size);
  out << text << data;
}

Tensor counting(std::string name, std::vector<std::int64_t> shape) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17) / 64.0F - 0.1F;
  return {std::move(name), std::move(shape), std::move(values)};
}

/// The perceptron of mlp_job as another program stores it: matrices as [in, out].
std::vector<Tensor> exported() {
  return {counting("layer1.w", {64, 24}), counting("layer1.b", {24}), counting("layer2.w", {24, 4}),
          counting("layer2.b", {4})};
}

constexpr const char* init_section = R"(init {
    from = safetensors(<weights>, map = rename([
      ("layer1.w -> fc1.weight", {transpose = true}), "layer1.b -> fc1.bias",
      ("layer2.w -> head.weight", {transpose = true}), "layer2.b -> head.bias",
    ]));
    unexpected = ["mask.*"];
  })";

class ImportingJob {
 public:
  explicit ImportingJob(int ranks = 1, const std::string& freeze = "") : space(make(ranks, freeze)) {
    std::string text = mlp_job(make(ranks, freeze));
    const std::string model = "model = Mlp(classes = 4);";
    text.replace(text.find(model), model.size(), model + "\n  " + init_section);
    text.replace(text.find("import std.data"), 0, "import std.io.{safetensors, rename};\n");
    text.replace(text.find("bind <data>"), 0, "bind <weights>: path.file \"exported weights\";\n");
    space.dir.write("job.dtj", text);
  }

  ProcessResult run(const std::vector<Tensor>& tensors) {
    write_weights(weights, tensors);
    return space.run({"--bind", "weights=" + weights});
  }

  std::map<std::string, RawTensor> checkpoint(std::int64_t step) const {
    std::map<std::string, RawTensor> all;
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("{}/step-{:08}", space.out, step)))
      if (entry.path().extension() == ".safetensors") all.merge(read_safetensors(entry.path().string()));
    return all;
  }

  Workspace space;
  std::string weights = space.dir.file("weights.safetensors");

 private:
  static MlpJob make(int ranks, const std::string& freeze) {
    MlpJob job;
    job.ranks = ranks;
    job.steps = 6;
    job.peak_lr = 1e-3;
    job.checkpoint_every = 2;
    job.with_eval = false;
    job.extra_train = freeze;
    return job;
  }
};

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

void check_refused(const ProcessResult& result, const std::vector<std::string>& words) {
  INFO("stderr: " << result.err);
  CHECK(result.exit_code == 4);
  for (const std::string& word : words) {
    INFO("missing: " << word);
    CHECK(result.err.find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("weights: frozen parameters keep the bits of the file on every rank, the others train", "[e2e]") {
  ImportingJob job(2, "freeze = [\"fc1.*\"];");
  auto tensors = exported();
  tensors.push_back(counting("mask.0", {3}));
  const auto result = job.run(tensors);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto saved = job.checkpoint(6);
  const auto& weight = saved.at("fc1.weight");
  CHECK(weight.shape == std::vector<std::int64_t>{24, 64});
  std::vector<float> transposed(24 * 64);
  for (std::size_t o = 0; o < 24; ++o)
    for (std::size_t i = 0; i < 64; ++i) transposed[o * 64 + i] = tensors[0].values[i * 24 + o];
  CHECK(weight.bytes == bytes_of(transposed));
  CHECK(saved.at("fc1.bias").bytes == bytes_of(tensors[1].values));
  CHECK(saved.at("head.bias").bytes != bytes_of(tensors[3].values));
  CHECK(saved.count("m/head.weight") == 1);
  CHECK(saved.count("m/fc1.weight") == 0);
}

TEST_CASE("weights: a resumed run does not read the file again", "[e2e]") {
  ImportingJob job;
  REQUIRE(job.run(exported()).exit_code == 0);
  const auto before = read_shards(job.space.out, 4);
  std::filesystem::remove_all(job.space.out + "/step-00000006");
  std::filesystem::remove(job.weights);
  const auto result = job.space.run({"--bind", "weights=" + job.weights});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(std::filesystem::exists(job.space.out + "/step-00000006"));
  CHECK(read_shards(job.space.out, 4) == before);
}

TEST_CASE("weights: a file that does not fit is refused with all that is wrong", "[e2e]") {
  ImportingJob job(2);
  auto tensors = exported();
  tensors[0] = counting("layer1.w", {24, 64});
  tensors[1] = counting("layer1.b", {23});
  tensors[2].name = "layer2.v";
  tensors.push_back(counting("something", {1}));
  check_refused(job.run(tensors),
                {"weights.safetensors` does not fit the model",
                 "`layer1.w` is [24, 64], and `fc1.weight` of the model is [24, 64]: leave `transpose = true` out of its rule",
                 "`layer1.b` is [23], and `fc1.bias` of the model is [24]",
                 "there is no `layer2.w` for `head.weight`; did you mean `layer2.v`?",
                 "`layer2.v` belongs to no parameter; the model looks for `layer2.w`",
                 "`something` belongs to no parameter: map it, or allow it with `unexpected`"});
  CHECK_FALSE(std::filesystem::exists(job.space.out + "/step-00000002"));
}

TEST_CASE("weights: a file that is absent, cut short or no safetensors", "[e2e]") {
  {
    ImportingJob job;
    check_refused(job.space.run({"--bind", "weights=" + job.weights}), {"weights.safetensors"});
  }
  {
    ImportingJob job;
    write_weights(job.weights, exported());
    std::filesystem::resize_file(job.weights, std::filesystem::file_size(job.weights) - 4);
    check_refused(job.space.run({"--bind", "weights=" + job.weights}), {"truncated or damaged"});
  }
  {
    ImportingJob job;
    job.space.dir.write("weights.safetensors", "a text, whatever its name says");
    check_refused(job.space.run({"--bind", "weights=" + job.weights}), {"weights.safetensors"});
  }
}
