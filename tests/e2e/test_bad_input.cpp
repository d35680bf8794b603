#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"

using namespace dtj::test;

namespace {

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

void check_says(const ProcessResult& result, int exit_code, const std::vector<std::string>& words) {
  INFO("stderr: " << result.err);
  CHECK_FALSE(result.timed_out);
  CHECK(result.signal == 0);
  CHECK(result.exit_code == exit_code);
  for (const std::string& word : words) {
    INFO("missing: " << word);
    CHECK(result.err.find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("bad input: mistakes in the job are diagnosed with exit code 1", "[e2e]") {
  struct Case {
    std::string from, to, code;
  };
  const std::vector<Case> cases = {
      {"ranks_per_node = 1", "ranks_per_nod = 1", "E402"},
      {"stop = 40step", "stop = 40min", "E301"},
      {"Linear(24, classes)", "Linear(25, classes)", "E201"},
      {"dp = 1;", "dp = 2;", "E101"},
      {"global_batch = 16sample;\n    ", "global_batch = 16sample; micro_batch = 5sample;\n    ", "E110"},
  };
  TempDir dir;
  for (const Case& c : cases) {
    std::string text = mlp_job({});
    replace(text, c.from, c.to);
    const std::string path = dir.write("job.dtj", text);
    check_says(run_dtjc(dir, {"check", path}), 1, {"error[" + c.code + "]", "job.dtj:"});
    check_says(run_dtjc(dir, {"run", path, "--bind", "data=x", "--bind", "out=y"}), 1, {"error[" + c.code + "]"});
  }
}

TEST_CASE("bad input: the command line", "[e2e]") {
  TempDir dir;
  const std::string path = dir.write("job.dtj", mlp_job({}));
  CHECK(run_dtjc(dir, {}).exit_code == 64);
  check_says(run_dtjc(dir, {"chekc", path}), 64, {"`chekc`", "check, plan"});
  check_says(run_dtjc(dir, {"check", path, "--format", "xml"}), 64, {"--format: xml not in {text,json,sarif,github}"});
  CHECK(run_dtjc(dir, {"check", path, "--format", "JSON"}).exit_code == 0);
  CHECK(run_dtjc(dir, {"check"}).exit_code == 64);
  CHECK(run_dtjc(dir, {"run", path, "--bind", "data"}).exit_code == 64);
  check_says(run_dtjc(dir, {"check", path, "--bind", "data=x", "--bind", "data=y"}), 64, {"<data> is given twice"});
  CHECK(run_dtjc(dir, {"--help"}).exit_code == 0);
  check_says(run_dtjc(dir, {"check", dir.file("absent.dtj")}), 1, {"E001", "absent.dtj"});
  check_says(run_dtjc(dir, {"run", path}), 3, {"<data>", "--bind data="});
  check_says(run_dtjc(dir, {"run", path, "--bind", "dat=x"}), 1, {"dat", "data"});
}

TEST_CASE("bad input: a job that is right and cannot run", "[e2e]") {
  TempDir dir;
  std::string text = mlp_job({});
  replace(text, "device = cpu;", "device = cuda;");
  const std::string cuda = dir.write("cuda.dtj", text);
  check_says(run_dtjc(dir, {"check", cuda}), 0, {"N903", "cuda.dtj: ok"});
  check_says(run_dtjc(dir, {"run", cuda, "--bind", "data=x", "--bind", "out=y"}), 4, {"cannot run yet", "no GPU ranks"});

  text = mlp_job({});
  replace(text, "bind <out>", "bind <ranks>: int;\nbind <out>");
  replace(text, "ranks_per_node = 1", "ranks_per_node = <ranks>");
  const std::string ranks = dir.write("ranks.dtj", text);
  check_says(run_dtjc(dir, {"check", ranks}), 0, {"N902", "valid for `<ranks>` in {1}"});
  check_says(run_dtjc(dir, {"plan", ranks}), 0, {"N902", "N901"});
  check_says(run_dtjc(dir, {"plan", ranks, "-o", dir.file("plan")}), 4, {"the plan would not run", "has no value"});
  check_says(run_dtjc(dir, {"run", ranks, "--bind", "data=x", "--bind", "out=y"}), 3, {"--bind ranks="});
}

TEST_CASE("bad input: a site profile gives values and keeps them to itself", "[e2e]") {
  TempDir dir;
  std::string text = mlp_job({});
  replace(text, "bind <out>", "bind <token>: secret where <token> == \"hunter2\";\nbind <out>");
  const std::string path = dir.write("job.dtj", text);
  const std::string site = dir.write("site.toml", "[site.lab.bind]\ndata = \"from-the-profile\"\nout = \"runs\"\ntoken = \"hunter2\"\n");
  const auto planned = run_dtjc(dir, {"plan", path, "--site", site, "--format", "json", "-o", dir.file("plan")});
  CHECK(planned.exit_code == 0);
  CHECK(planned.out.find("hunter2") == std::string::npos);
  check_says(run_dtjc(dir, {"run", path, "--site", site}), 4, {"from-the-profile"});
  check_says(run_dtjc(dir, {"check", path, "--site", site, "--bind", "token=other"}), 1, {"E416"});
}

TEST_CASE("bad input: output that cannot be written is not lost in silence", "[e2e]") {
  TempDir dir;
  const std::string path = dir.write("job.dtj", mlp_job({}));
  for (const std::string command : {"plan", "lower"}) {
    const std::string line = std::string(DTJ_DTJC) + " " + command + " " + path +
                             (command == "lower" ? " --print-after=all" : "") + " --bind data=x --bind out=y > /dev/full";
    check_says(Process({"sh", "-c", line}, dir.file("full")).finish(), 4, {"No space left on device"});
  }
}

TEST_CASE("bad input: closed standard streams are no crash", "[e2e]") {
  TempDir dir;
  const std::string path = dir.write("job.dtj", mlp_job({}));
  const std::string broken = dir.write("broken.dtj", "dtj 1; job");
  for (const std::string closing : {"2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"}) {
    INFO(closing);
    const auto run = [&](const std::string& file) {
      return Process({"sh", "-c", std::string(DTJ_DTJC) + " check " + file + " " + closing}, dir.file("closed")).finish();
    };
    const ProcessResult good = run(path);
    CHECK(good.signal == 0);
    CHECK((good.exit_code == 0 || good.exit_code == 4));
    CHECK(run(broken).exit_code == 1);
  }
}

TEST_CASE("bad input: data that is no regular file is refused, not waited for", "[e2e]") {
  for (const int ranks : {1, 2}) {
    GptJob job;
    job.ranks = ranks;
    Workspace space(job);
    space.data = space.dir.file("pipe");
    REQUIRE(mkfifo(space.data.c_str(), 0600) == 0);
    check_says(space.run(), 4, {"pipe", "regular file"});
  }
}

TEST_CASE("bad input: a label outside the model's classes ends the run", "[e2e]") {
  for (const int ranks : {1, 2}) {
    MlpJob job;
    job.ranks = ranks;
    Workspace space(job);
    std::string text = mlp_job(job);
    replace(text, "Mlp(classes = 4)", "Mlp(classes = 3)");
    space.dir.write("job.dtj", text);
    check_says(space.run(), 4, {"index 3", "outside [0, 3)"});
    CHECK_FALSE(std::filesystem::exists(space.out + "/step-00000010"));
  }
}

TEST_CASE("bad input: a plan is not written over a device or a folder", "[e2e]") {
  TempDir dir;
  const std::string path = dir.write("job.dtj", mlp_job({}));
  const std::string pipe = dir.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& target : {pipe, dir.path().string()})
    check_says(run_dtjc(dir, {"plan", path, "--bind", "data=x", "--bind", "out=y", "-o", target}), 4, {target});
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("bad input: a device that this build lacks is refused, not replaced", "[e2e]") {
  for (const int ranks : {1, 2}) {
    MlpJob job;
    job.ranks = ranks;
    Workspace space(job);
    std::string text = mlp_job(job);
    replace(text, "device = cpu", "device = cuda");
    space.dir.write("job.dtj", text);
    check_says(space.run(), 4, {"no GPU ranks", "device = cpu"});
  }
}

TEST_CASE("bad input: a reason that all ranks share is given once", "[e2e]") {
  MlpJob job;
  job.ranks = 2;
  Workspace space(job);
  std::filesystem::remove(space.dir.file("train-images-idx3-ubyte"));
  const ProcessResult result = space.run();
  check_says(result, 4, {"train-images-idx3-ubyte"});
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

TEST_CASE("bad input: missing, truncated and mislabelled data files", "[e2e]") {
  const std::string images = "train-images-idx3-ubyte";
  {
    Workspace space(MlpJob{});
    std::filesystem::remove(space.dir.path() / images);
    check_says(space.run(), 4, {images});
  }
  {
    Workspace space(MlpJob{});
    std::filesystem::resize_file(space.dir.path() / images, 1000);
    check_says(space.run(), 4, {images, "truncated"});
  }
  {
    Workspace space(MlpJob{});
    space.dir.write(images, "this is not an IDX file, whatever its name says");
    check_says(space.run(), 4, {images});
  }
  {
    IdxOptions idx;
    idx.bad_label_at = 77;
    Workspace space(MlpJob{}, idx);
    check_says(space.run(), 4, {"train-labels-idx1-ubyte", "77"});
  }
  for (const int ranks : {1, 2}) {
    MlpJob job;
    job.ranks = ranks;
    Workspace space(job);
    std::filesystem::remove_all(space.dir.path() / images);
    const auto result = space.run();
    check_says(result, 4, {images});
    CHECK_FALSE(std::filesystem::exists(space.out + "/step-00000010"));
  }
}

TEST_CASE("bad input: an output folder that cannot be written", "[e2e]") {
  Workspace space(MlpJob{});
  space.out = space.dir.write("a_file", "in the way") + "/out";
  check_says(space.run(), 4, {"a_file"});
  CHECK(std::filesystem::is_regular_file(space.dir.path() / "a_file"));
}

TEST_CASE("bad input: a loss that is not a number ends the run and keeps the last checkpoint", "[e2e]") {
  for (const int ranks : {1, 2}) {
    MlpJob job;
    job.ranks = ranks;
    job.peak_lr = 1e30;
    job.checkpoint_every = 1;
    Workspace space(job);
    const ProcessResult result = space.run();
    check_says(result, 5, {"loss", "step"});
  }
}

TEST_CASE("bad input: a checkpoint of another model is refused", "[e2e]") {
  Workspace space(MlpJob{});
  REQUIRE(space.run().exit_code == 0);
  const auto before = read_shards(space.out, 40);
  std::string text = mlp_job({});
  replace(text, "Linear(64, 24)", "Linear(64, 32)");
  replace(text, "Linear(24, classes)", "Linear(32, classes)");
  space.dir.write("job.dtj", text);
  const ProcessResult result = space.run();
  INFO(result.err);
  CHECK(result.exit_code == 4);
  CHECK(read_shards(space.out, 40) == before);
}
