#include <cmath>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"

// Networks with buffers, random numbers and augmented images: the same on any number of ranks, and after a stop.

using namespace dtj::test;

namespace {

/// The MLP's job with a small convolutional network in its place.
std::string cnn_job(const MlpJob& job, const std::string& layers) {
  std::string text = mlp_job(job);
  const auto replace = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  const auto begin = text.find("  sub fc1"), end = text.find("}\njob");
  REQUIRE(end != std::string::npos);
  text.replace(begin, end - begin,
               "  sub conv = Conv2d(1, 6, k = 3, pad = 1, bias = false);\n  sub bn = BatchNorm2d(6);\n"
               "  sub drop = Dropout(0.25);\n  sub head = Linear(96, classes);\n"
               "  fn forward(x: act[B, 1, 8, 8]) -> act[B, classes] {\n    " +
                   layers + "\n  }\n");
  replace("import std.optim", "import std.nn.{Dropout};\nimport std.vision.{Conv2d, BatchNorm2d, max_pool2d};\nimport std.optim");
  replace("normalize(mean = 0.3, std = 0.3)]", "normalize(mean = 0.3, std = 0.3), random_crop(pad = 1), random_flip()]");
  const auto save = text.find("save = [params, ");
  REQUIRE(save != std::string::npos);
  if (layers.find("bn") != std::string::npos) {
    replace("save = [params, ", "save = [params, buffers, ");
  } else {
    replace("  sub bn = BatchNorm2d(6);\n", "");
  }
  return text;
}

struct CnnWorkspace : Workspace {
  CnnWorkspace(const MlpJob& job, const std::string& layers) : Workspace(job) {
    job_path = dir.write("cnn.dtj", cnn_job(job, layers));
  }
};

const std::string normalised = "x |> conv |> bn |> relu |> max_pool2d(k = 2) |> flatten(from = 1) |> drop |> head";
const std::string plain = "x |> conv |> relu |> max_pool2d(k = 2) |> flatten(from = 1) |> drop |> head";

void check_same_losses(const std::map<std::int64_t, std::string>& a, const std::map<std::int64_t, std::string>& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [step, loss] : a) {
    INFO("step " << step);
    CHECK(std::stod(loss) == Approx(std::stod(b.at(step))).epsilon(2e-4));
  }
}

std::map<std::int64_t, std::string> losses_of(const MlpJob& job, const std::string& layers) {
  CnnWorkspace space(job, layers);
  const ProcessResult result = space.run();
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return read_losses(space.metrics);
}

}  // namespace

TEST_CASE("vision: statistics and dropout do not depend on the number of ranks", "[e2e]") {
  MlpJob one;
  one.steps = 12;
  one.with_eval = false;
  MlpJob two = one;
  two.ranks = 2;
  check_same_losses(losses_of(one, normalised), losses_of(two, normalised));
}

TEST_CASE("vision: dropout does not depend on the micro batch", "[e2e]") {
  MlpJob whole;
  whole.steps = 12;
  whole.with_eval = false;
  MlpJob parts = whole;
  parts.ranks = 2;
  parts.micro_batch = 2;
  check_same_losses(losses_of(whole, plain), losses_of(parts, plain));
}

TEST_CASE("vision: a run that stops and resumes ends with the same bits, buffers included", "[e2e][resume]") {
  for (const int micro_batch : {0, 4}) {
    MlpJob job;
    job.steps = 24;
    job.ranks = 2;
    job.checkpoint_every = 7;
    job.micro_batch = micro_batch;
    CnnWorkspace undisturbed(job, normalised), stopped(job, normalised);
    REQUIRE(undisturbed.run().exit_code == 0);
    REQUIRE(stopped.run({"--max-steps", "11"}).exit_code == 0);
    const ProcessResult rest = stopped.run();
    INFO(rest.err);
    REQUIRE(rest.exit_code == 0);
    const std::string shards = read_shards(undisturbed.out, 24);
    CHECK(shards.find("bn.running_var") != std::string::npos);
    CHECK(read_shards(stopped.out, 24) == shards);
    CHECK(read_losses(stopped.metrics) == read_losses(undisturbed.metrics));
  }
}
