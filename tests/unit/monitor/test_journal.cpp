#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "engine/monitor/journal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_dir.hpp"

using namespace dtj;
using namespace dtj::monitor;

TEST_CASE("journal: what was written is read", "[unit][monitor]") {
  const test::TempDir dir;
  const std::string path = dir.file("journal");
  auto journal = create_journal(path);
  REQUIRE(journal);
  auto fresh = read_journal(path);
  REQUIRE(fresh);
  CHECK(fresh->step == -1);
  CHECK(fresh->label.empty());

  (*journal)->set_step(37, "micro");
  (*journal)->set_plan_step(12, "fused(add,gelu)");
  (*journal)->set_collective(99, "bucket 0", true);
  auto entry = read_journal(path);
  REQUIRE(entry);
  CHECK(entry->step == 37);
  CHECK(entry->phase == "micro");
  CHECK(entry->plan_step == 12);
  CHECK(entry->label == "fused(add,gelu)");
  CHECK(entry->sequence == 99);
  CHECK(entry->collective == "bucket 0");
  CHECK(entry->waiting);
  (*journal)->set_collective(99, "bucket 0", false);
  CHECK_FALSE(read_journal(path)->waiting);
}

TEST_CASE("journal: long text is cut", "[unit][monitor]") {
  const test::TempDir dir;
  const std::string path = dir.file("journal");
  auto journal = create_journal(path);
  REQUIRE(journal);
  (*journal)->set_plan_step(1, std::string(1000, 'x'));
  const std::string label = read_journal(path)->label;
  CHECK(label.size() >= 64);
  CHECK(label == std::string(label.size(), 'x'));
}

TEST_CASE("journal: survives SIGKILL of its writer", "[unit][monitor]") {
  const test::TempDir dir;
  const std::string path = dir.file("journal");
  const pid_t child = ::fork();
  if (child == 0) {
    auto journal = create_journal(path);
    if (journal) {
      (*journal)->set_step(5, "data");
      ::kill(::getpid(), SIGKILL);
    }
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  const auto entry = read_journal(path);
  REQUIRE(entry);
  CHECK(entry->step == 5);
  CHECK(entry->phase == "data");
}

TEST_CASE("journal: a writer never shows a reader half an update", "[unit][monitor]") {
  const test::TempDir dir;
  const std::string path = dir.file("journal");
  const auto journal = create_journal(path);
  REQUIRE(journal);
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::uint32_t i = 0;; ++i)
      (*journal)->set_plan_step(i, std::string(1 + i % 50, static_cast<char>('a' + i % 26)));
  }
  int torn = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto entry = read_journal(path);
    if (!entry || entry->label.empty()) continue;
    const std::uint32_t n = entry->plan_step;
    if (entry->label != std::string(1 + n % 50, static_cast<char>('a' + n % 26))) ++torn;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(torn == 0);
}

TEST_CASE("journal: missing and damaged files are errors", "[unit][monitor]") {
  const test::TempDir dir;
  const auto missing = read_journal(dir.file("none"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  std::ofstream(dir.file("short")) << "x";
  CHECK(read_journal(dir.file("short")).error().code == ErrorCode::data_loss);
  std::ofstream(dir.file("other")) << std::string(4096, 'x');
  CHECK(read_journal(dir.file("other")).error().code == ErrorCode::data_loss);
  CHECK_FALSE(create_journal(dir.file("no/such/folder")));
}
