#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "dtj/lint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_dir.hpp"

namespace {

namespace fs = std::filesystem;
using dtj::lint::Report;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Report run(const std::vector<std::string>& paths, bool fix, const std::string& profile = "") {
  dtj::lint::Request request;
  request.paths = paths;
  request.tier = dtj::lint::Tier::all;
  request.config = DTJ_SOURCE_DIR "/tests/lint/corpus.toml";
  request.fix = fix;
  request.profile = profile;
  return dtj::lint::check(request);
}

const char* const leaky_job = R"(dtj 1;
// Runs on the gpu-a100x partition; reached acc 0.923 on node bc12n07.
import std.nn.{Linear, cross_entropy};
import std.optim.{SGD};
import std.data.{idx_images};
bind <data>: path.dir = "/gpfs/proj042/jdoe42/data" "images";
module Net(classes: int) {
  sub head = Linear(784, classes);
  fn forward(x: act[B, 1, 28, 28]) -> act[B, classes] { x |> flatten(from = 1) |> head }
}
job tiny {
  launch {
    method = slurm(partition = "gpu-a100x", account = "proj042", qos = "prio7", signal_before = 5min);
    nodes = 1;
    ranks_per_node = 2;
    walltime = 1h;
  }
  mesh { dp = 2; }
  model = Net(classes = 10);
  data train { source = idx_images("/gpfs/proj042/jdoe42/data"); global_batch = 128sample; sampler = shuffle(seed = 1); }
  fn objective(m, batch) { {loss = cross_entropy(m(batch.image), batch.label)} }
  optimizer = SGD(lr = 0.1);
  train { stop = 10epoch; }
  checkpoint { dir = "/gpfs/proj042/out"; every = 1epoch; save = [params, optimizer, schedule, rng, sampler]; }
}
)";

}  // namespace

TEST_CASE("fix: a job keeps compiling, and its profile binds the values again", "[lint]") {
  const dtj::test::TempDir dir;
  const std::string path = dir.write("job.dtj", leaky_job);
  const std::string profile = dir.file("private/site.toml");
  fs::create_directories(dir.path() / "private");
  CHECK(run({path}, false).findings.size() >= 8);
  REQUIRE_FALSE(run({path}, true, profile).failure);
  CHECK(run({path}, false).findings.empty());
  dtj::CompileOptions options;
  options.site_profile = profile;
  const auto fixed = dtj::Compilation::from_file(path, dtj::Compilation::Stage::check, options);
  INFO(read(path) << fixed.render_text(false));
  CHECK(fixed.ok());
  CHECK(read(path).find("partition = <partition>") != std::string::npos);
  const auto& known = fixed.placeholders();
  const auto is_partition = [](const auto& placeholder) { return placeholder.name == "partition" && placeholder.value == "gpu-a100x"; };
  CHECK(std::any_of(known.begin(), known.end(), is_partition));
}
