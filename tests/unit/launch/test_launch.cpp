#include <dirent.h>
#include <signal.h>

#include <atomic>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "engine/launch/launch.hpp"
#include "engine/monitor/journal.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temp_dir.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

struct Launched {
  launch::LaunchReport report;
  std::vector<std::string> messages;
  double seconds = 0;
};

struct Job {
  TempDir dir;
  launch::LocalLaunch launch;

  explicit Job(const std::string& script, std::int64_t world_size = 2) {
    launch.command = {"/bin/sh", "-c", script};
    launch.world_size = world_size;
    launch.plan_path = dir.file("plan");
    launch.run_dir = dir.path().string();
    launch.bind_cores = false;
    launch.kill_grace = std::chrono::milliseconds(300);
  }
  Launched run() {
    Launched launched;
    const auto start = Clock::now();
    auto report =
        launch::launch_local(launch, [&](LogLevel, std::string_view text) { launched.messages.emplace_back(text); });
    launched.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    REQUIRE(report);
    launched.report = *report;
    return launched;
  }
  std::string text(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(dir.file(name)).rdbuf();
    return out.str();
  }
};

std::set<std::string> segments() {
  std::set<std::string> names;
  DIR* folder = opendir("/dev/shm");
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) names.insert(entry->d_name);
  closedir(folder);
  return names;
}

}  // namespace

TEST_CASE("launch_local: ranks that end well make a clean report", "[unit][launch]") {
  Job job(
      "echo $DTJ_RANK $DTJ_WORLD_SIZE $DTJ_LOCAL_RANK $DTJ_PLAN $DTJ_RUN_DIR [$DTJ_CORES] > $DTJ_RUN_DIR/out-$DTJ_RANK",
      3);
  const auto launched = job.run();
  CHECK_FALSE(launched.report.first_failed);
  CHECK(launched.report.message.empty());
  REQUIRE(launched.report.ranks.size() == 3);
  for (const auto& exit : launched.report.ranks) {
    CHECK(exit.exit_code == 0);
    CHECK_FALSE(exit.signal);
  }
  CHECK(job.text("out-2") == "2 3 2 " + job.launch.plan_path + " " + job.launch.run_dir + " []\n");
}

TEST_CASE("launch_local: exit codes are passed on and the others are stopped", "[unit][launch]") {
  Job job("if [ $DTJ_RANK = 1 ]; then exit 3; fi; exec sleep 60");
  const auto launched = job.run();
  CHECK(launched.report.first_failed == 1);
  CHECK(launched.report.message == "rank 1 ended with exit code 3");
  CHECK(launched.report.ranks[1].exit_code == 3);
  CHECK_FALSE(launched.report.ranks[1].killed_by_launcher);
  CHECK(launched.report.ranks[0].signal == SIGTERM);
  CHECK(launched.report.ranks[0].killed_by_launcher);
  CHECK(launched.seconds < 10);
}

TEST_CASE("launch_local: a killed rank is named with what its journal says", "[unit][launch]") {
  Job job("if [ $DTJ_RANK = 1 ]; then kill -9 $$; fi; exec sleep 60");
  {
    const auto journal = monitor::create_journal(job.dir.file("journal-1"));
    REQUIRE(journal);
    (*journal)->set_step(37, "micro");
    (*journal)->set_plan_step(4, "all_reduce");
    (*journal)->set_collective(12, "bucket 0", true);
  }
  const auto launched = job.run();
  CHECK(launched.report.first_failed == 1);
  CHECK(launched.report.ranks[1].signal == SIGKILL);
  CHECK_FALSE(launched.report.ranks[1].killed_by_launcher);
  CHECK_THAT(launched.report.message,
             contains("rank 1 was killed by SIGKILL at step 37 (micro)") && contains("`bucket 0`"));
  CHECK(launched.seconds < 10);
}

TEST_CASE("launch_local: a rank that ignores SIGTERM gets SIGKILL after the grace", "[unit][launch]") {
  Job job("if [ $DTJ_RANK = 0 ]; then trap '' TERM; while :; do sleep 0.05; done; fi; sleep 0.2; exit 7");
  const auto launched = job.run();
  CHECK(launched.report.first_failed == 1);
  CHECK(launched.report.ranks[0].signal == SIGKILL);
  CHECK(launched.report.ranks[0].killed_by_launcher);
  CHECK(launched.seconds < 20);
}

TEST_CASE("launch_local: a rank that lost its peer is not the cause", "[unit][launch]") {
  Job job("if [ $DTJ_RANK = 0 ]; then exit 6; fi; sleep 0.1; exit 4");
  const auto launched = job.run();
  CHECK(launched.report.first_failed == 1);
  CHECK(launched.report.message == "rank 1 ended with exit code 4");
}

TEST_CASE("launch_local: a stop request reaches all ranks as one SIGTERM", "[unit][launch]") {
  Job job(
      "trap 'echo term >> $DTJ_RUN_DIR/out-$DTJ_RANK; n=1' TERM; echo ready > $DTJ_RUN_DIR/ready-$DTJ_RANK; "
      "while [ -z \"$n\" ]; do sleep 0.02; done; sleep 0.3; exit 75");
  std::atomic<int> stop{0};
  job.launch.stop_request = &stop;
  std::thread stopper([&] {
    for (int i = 0; i < 500 && (job.text("ready-0").empty() || job.text("ready-1").empty()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    stop = 2;
  });
  const auto launched = job.run();
  stopper.join();
  CHECK(launched.report.ranks[0].exit_code == 75);
  CHECK(launched.report.ranks[1].exit_code == 75);
  CHECK(job.text("out-0") == "term\n");
  CHECK(job.text("out-1") == "term\n");
}

TEST_CASE("launch_local: no shared memory is left behind", "[unit][launch]") {
  Job job("echo $DTJ_SHM > $DTJ_RUN_DIR/shm-$DTJ_RANK; touch /dev/shm$DTJ_SHM; sleep 0.4; kill -9 $$");
  job.run();
  const std::string name = job.text("shm-0");
  CHECK(name == job.text("shm-1"));
  CHECK(name.rfind("/dtj-", 0) == 0);
  CHECK(segments().count(name.substr(1, name.size() - 2)) == 0);
}

TEST_CASE("launch_local: a program that does not exist is unavailable", "[unit][launch]") {
  Job job("");
  job.launch.command = {"/no/such/program"};
  const auto report = launch::launch_local(job.launch, {});
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::unavailable);
  CHECK_THAT(report.error().to_string(), contains("/no/such/program") && contains("rank 0"));
}

TEST_CASE("launch_local: ranks are pinned when there are cores, else a warning says why not", "[unit][launch]") {
  Job pinned("echo $DTJ_CORES > $DTJ_RUN_DIR/cores; grep Cpus_allowed_list /proc/self/status > $DTJ_RUN_DIR/status", 1);
  pinned.launch.bind_cores = true;
  CHECK(pinned.run().messages.empty());
  const std::string core = pinned.text("cores");
  CHECK_THAT(pinned.text("status"), contains("\t" + core));

  Job crowded("test -z \"$DTJ_CORES\"", 1);
  crowded.launch.bind_cores = true;
  crowded.launch.threads_per_rank = 100'000;
  const auto launched = crowded.run();
  CHECK(launched.report.ranks[0].exit_code == 0);
  REQUIRE(launched.messages.size() == 1);
  CHECK_THAT(launched.messages[0], contains("not pinned") && contains("100000 threads"));
}
