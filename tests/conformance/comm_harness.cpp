#include "tests/conformance/comm_harness.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "tests/support/catch.hpp"

namespace dtj::test {
namespace {

std::string segment_prefix() {
  return fmt::format("dtj-test-{}-", ::getpid());
}

std::optional<std::string> read_to_end(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t length = 0; (length = ::read(fd, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(length));
  // Every rank that ends by itself writes at least the end mark.
  if (text.empty() || text.back() != '\n') return std::nullopt;
  text.pop_back();
  return text;
}

[[noreturn]] void be_rank(const comm::ShmOptions& options, const RankBody& body, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  RankReport report;
  {
    auto communicator = comm::make_shm_communicator(options);
    if (communicator) {
      body(**communicator, report);
    } else {
      report.check(false, "join: " + communicator.error().to_string());
    }
  }
  const std::string text = report.text() + "\n";
  const ssize_t written = ::write(out, text.data(), text.size());
  ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

std::vector<std::optional<std::string>> run_processes(std::int64_t world_size, Duration timeout, const RankBody& body) {
  const std::string segment = fresh_segment_name();
  std::vector<pid_t> children;
  std::vector<int> pipes;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(ends[0]);
      be_rank({segment, Rank{static_cast<std::uint32_t>(rank)}, world_size, timeout}, body, ends[1]);
    }
    ::close(ends[1]);
    children.push_back(child);
    pipes.push_back(ends[0]);
  }
  std::vector<std::optional<std::string>> reports;
  for (const int pipe : pipes) {
    reports.push_back(read_to_end(pipe));
    ::close(pipe);
  }
  // The children stay zombies until here: a peer must notice a death before anybody has collected it.
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  return reports;
}

std::vector<std::optional<std::string>> run_threads(std::vector<std::unique_ptr<comm::Communicator>> ranks,
                                                    const RankBody& body) {
  std::vector<RankReport> reports(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    threads.emplace_back([&, rank] {
      body(*ranks[rank], reports[rank]);
      ranks[rank].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::optional<std::string>> texts;
  for (const RankReport& report : reports) texts.emplace_back(report.text());
  return texts;
}

}  // namespace

std::string CommKind::name() const {
  switch (transport) {
    case Transport::self:
      return "self";
    case Transport::local:
      return fmt::format("local x {}", world_size);
    case Transport::shm:
      return fmt::format("shm x {}", world_size);
  }
  return {};
}

std::vector<CommKind> all_comm_kinds() {
  auto kinds = comm_kinds_with_peers();
  kinds.insert(kinds.begin(), CommKind{});
  return kinds;
}

std::vector<CommKind> comm_kinds_with_peers() {
  using Transport = CommKind::Transport;
  return {{Transport::local, 2}, {Transport::local, 3}, {Transport::local, 4}, {Transport::local, 8},
          {Transport::shm, 2},   {Transport::shm, 3},   {Transport::shm, 4}};
}

std::vector<std::optional<std::string>> run_ranks(const CommKind& kind, Duration timeout, const RankBody& body) {
  switch (kind.transport) {
    case CommKind::Transport::self: {
      std::vector<std::unique_ptr<comm::Communicator>> ranks;
      ranks.push_back(comm::make_self_communicator());
      return run_threads(std::move(ranks), body);
    }
    case CommKind::Transport::local: {
      auto ranks = comm::make_local_communicators(kind.world_size, timeout);
      REQUIRE(ranks);
      return run_threads(std::move(*ranks), body);
    }
    case CommKind::Transport::shm:
      return run_processes(kind.world_size, timeout, body);
  }
  return {};
}

void expect_on_all_ranks(const CommKind& kind, const RankBody& body, Duration timeout) {
  const auto reports = run_ranks(kind, timeout, body);
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    INFO(kind.name() << ", rank " << rank);
    REQUIRE(reports[rank].has_value());
    CHECK(*reports[rank] == "");
  }
}

std::string fresh_segment_name() {
  static std::atomic<int> counter{0};
  return "/" + segment_prefix() + std::to_string(counter++);
}

std::vector<std::string> leaked_segments() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(segment_prefix(), 0) == 0) names.push_back(name);
  }
  return names;
}

}  // namespace dtj::test
