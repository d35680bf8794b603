#include <unistd.h>

#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "tests/conformance/comm_harness.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using namespace dtj::test;
using Transport = CommKind::Transport;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

double since(Deadline start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// "code: message" of a failed status.
std::string text_of(const Status& status) {
  return status ? "no error" : fmt::format("{}: {}", to_string(status.error().code), status.error().message);
}

void expect_error(RankReport& report, const Status& status, const std::string& code,
                  const std::vector<std::string>& parts) {
  const std::string text = text_of(status);
  report.check(text.rfind(code + ":", 0) == 0, "expected " + code + ", got " + text);
  for (const std::string& part : parts)
    report.check(text.find(part) != std::string::npos, "`" + part + "` not in " + text);
}

/// After an error there are only errors.
void expect_broken(comm::Communicator& comm, RankReport& report) {
  float x = 0;
  const auto start = Clock::now();
  report.check(!comm.all_reduce(&x, 1, DType::f32), "works after an error");
  report.check(!comm.barrier(), "barrier works after an error");
  report.check(since(start) < 2.0, "slow to fail after an error");
}

}  // namespace

TEST_CASE("deadline: names the ranks that did not arrive, and the operation", "[conformance][comm]") {
  for (const CommKind& kind :
       {CommKind{Transport::local, 3}, CommKind{Transport::shm, 2}, CommKind{Transport::shm, 3}}) {
    expect_on_all_ranks(
        kind,
        [](comm::Communicator& comm, RankReport& report) {
          std::vector<float> x(100);
          report.check(comm.all_reduce(x.data(), 100, DType::f32), "first");
          const auto last = static_cast<std::uint32_t>(comm.world_size() - 1);
          if (comm.rank().value == last) {
            // Alive and late.
            std::this_thread::sleep_for(milliseconds(2000));
            report.check(!comm.all_reduce(x.data(), 100, DType::f32), "late, but no error");
            return;
          }
          const auto start = Clock::now();
          const Status status = comm.all_reduce(x.data(), 100, DType::f32);
          expect_error(report, status, "deadline_exceeded",
                       {"all_reduce #2 (100 x f32)", fmt::format("rank {} did not arrive within 0.3 s", last)});
          report.check(since(start) > 0.25 && since(start) < 1.8, "not at the deadline");
          expect_broken(comm, report);
        },
        milliseconds(300));
  }
}

TEST_CASE("deadline: several missing ranks are all named", "[conformance][comm]") {
  expect_on_all_ranks(
      {Transport::local, 4},
      [](comm::Communicator& comm, RankReport& report) {
        if (comm.rank().value % 2 == 1) {
          std::this_thread::sleep_for(milliseconds(600));
          return;
        }
        expect_error(report, comm.barrier(), "deadline_exceeded", {"barrier #1", "ranks 1, 3 did not arrive"});
      },
      milliseconds(200));
}

TEST_CASE("dead rank: noticed within a second, with its number", "[conformance][comm]") {
  for (const CommKind& kind : comm_kinds_with_peers()) {
    const auto victim = static_cast<std::uint32_t>(kind.world_size - 1);
    const auto reports = run_ranks(kind, seconds(30), [&](comm::Communicator& comm, RankReport& report) {
      std::vector<double> x(1000);
      report.check(comm.all_reduce(x.data(), 1000, DType::f64), "first");
      if (comm.rank().value == victim) {
        if (kind.transport == Transport::shm) ::kill(::getpid(), SIGKILL);
        return;  // a thread leaves the group when its communicator goes away
      }
      const auto start = Clock::now();
      const Status status = comm.all_reduce(x.data(), 1000, DType::f64);
      expect_error(report, status, "aborted", {"all_reduce #2", fmt::format("rank {}", victim)});
      // Peers are looked at every 0.1 s; the rest is room for a busy machine.
      report.check(since(start) < 2.0, fmt::format("noticed after {} s", since(start)));
      expect_broken(comm, report);
    });
    for (std::uint32_t rank = 0; rank < reports.size(); ++rank) {
      INFO(kind.name() << ", rank " << rank);
      if (kind.transport == Transport::shm && rank == victim) {
        CHECK_FALSE(reports[rank].has_value());
      } else {
        CHECK(reports[rank] == std::optional<std::string>(""));
      }
    }
  }
  CHECK(leaked_segments().empty());
}

TEST_CASE("dead rank: killed in the middle of a large all_reduce", "[conformance][comm]") {
  for (const std::int64_t world_size : {2, 3}) {
    for (const bool is_registered : {false, true}) {
      const auto reports =
          run_ranks({Transport::shm, world_size}, seconds(30), [&](comm::Communicator& comm, RankReport& report) {
            constexpr std::int64_t count = 1 << 20;
            std::vector<float> plain(count);
            float* data = plain.data();
            device::Memory memory;
            if (is_registered) {
              auto made = comm.allocate(Bytes{count * 4});
              report.check(made.has_value(), "allocate");
              if (!made) return;
              memory = std::move(*made);
              data = reinterpret_cast<float*>(memory.data());
            }
            if (comm.rank().value == 1) {
              std::thread([] {
                std::this_thread::sleep_for(milliseconds(50));
                ::kill(::getpid(), SIGKILL);
              }).detach();
            }
            Status status;
            while (status) status = comm.all_reduce(data, count, DType::f32);
            expect_error(report, status, "aborted", {"rank 1 died"});
          });
      for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        if (rank == 1) {
          CHECK_FALSE(reports[rank].has_value());
        } else {
          CHECK(reports[rank] == std::optional<std::string>(""));
        }
      }
    }
  }
  CHECK(leaked_segments().empty());
}

TEST_CASE("leaving after the last collective disturbs nobody", "[conformance][comm]") {
  for (const CommKind& kind : comm_kinds_with_peers()) {
    for (int round = 0; round < 5; ++round) {
      expect_on_all_ranks(kind, [](comm::Communicator& comm, RankReport& report) {
        float x = 1;
        for (int i = 0; i < 20; ++i) report.check(comm.all_reduce(&x, 1, DType::f32), "all_reduce");
      });
    }
  }
}

TEST_CASE("abort: reaches every waiting rank with its reason", "[conformance][comm]") {
  for (const CommKind& kind : comm_kinds_with_peers()) {
    expect_on_all_ranks(kind, [](comm::Communicator& comm, RankReport& report) {
      const auto start = Clock::now();
      if (comm.rank().value == 0) {
        // From another thread, while this one waits as well.
        std::thread other([&] {
          std::this_thread::sleep_for(milliseconds(50));
          comm.abort("loss is not finite");
        });
        expect_error(report, comm.barrier(), "aborted", {"loss is not finite"});
        other.join();
      } else if (comm.rank().value == 1) {
        // Not in a collective at the time.
        std::this_thread::sleep_for(milliseconds(150));
        expect_error(report, comm.barrier(), "aborted", {"loss is not finite"});
      } else {
        expect_error(report, comm.barrier(), "aborted", {"loss is not finite"});
      }
      report.check(since(start) < 2.0, "slow abort");
      expect_broken(comm, report);
    });
  }
  const auto self = comm::make_self_communicator();
  self->abort("enough");
  CHECK(text_of(self->barrier()) == "aborted: enough");
}

TEST_CASE("mismatch: other count, dtype, operation or root is reported by every rank", "[conformance][comm]") {
  struct Case {
    std::function<Status(comm::Communicator&, void*, bool)> call;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {[](auto& comm, void* x, bool odd) { return comm.all_reduce(x, odd ? 8 : 16, DType::f32); },
       {"16 x f32", "8 x f32"}},
      {[](auto& comm, void* x, bool odd) { return comm.all_reduce(x, 8, odd ? DType::i32 : DType::f32); },
       {"8 x f32", "8 x i32"}},
      {[](auto& comm, void* x, bool odd) { return odd ? comm.barrier() : comm.all_reduce(x, 8, DType::f32); },
       {"barrier #1", "all_reduce #1"}},
      {[](auto& comm, void* x, bool odd) { return comm.broadcast(x, 8, DType::f32, Rank{odd ? 1u : 0u}); },
       {"from rank 0", "from rank 1"}},
  };
  for (const CommKind& kind : comm_kinds_with_peers()) {
    for (const Case& mismatch : cases) {
      expect_on_all_ranks(kind, [&](comm::Communicator& comm, RankReport& report) {
        std::vector<float> x(64);
        const bool is_odd = comm.rank().value == 1;
        expect_error(report, mismatch.call(comm, x.data(), is_odd), "invalid_argument", mismatch.parts);
      });
    }
  }
}

TEST_CASE("allocate: unlike sizes are an error on every rank", "[conformance][comm]") {
  for (const std::int64_t world_size : {2, 3}) {
    expect_on_all_ranks({Transport::shm, world_size}, [](comm::Communicator& comm, RankReport& report) {
      const auto memory = comm.allocate(Bytes{comm.rank().value == 1 ? 100 : 200});
      report.check(!memory && memory.error().code == ErrorCode::invalid_argument, "allocated");
    });
  }
}

TEST_CASE("shm: joining names the ranks that do not come", "[conformance][comm]") {
  const std::string segment = fresh_segment_name();
  const auto start = Clock::now();
  std::string texts[2];
  {
    std::thread other([&] {
      const auto made = comm::make_shm_communicator({segment, Rank{2}, 4, milliseconds(300)});
      texts[1] = made ? "joined" : made.error().message;
    });
    const auto made = comm::make_shm_communicator({segment, Rank{0}, 4, milliseconds(300)});
    texts[0] = made ? "joined" : made.error().message;
    other.join();
  }
  for (const std::string& text : texts) CHECK(text.find("ranks 1, 3 did not arrive within 0.3 s") != std::string::npos);
  CHECK(since(start) < 2.0);

  const auto alone = comm::make_shm_communicator({fresh_segment_name(), Rank{1}, 2, milliseconds(100)});
  REQUIRE_FALSE(alone);
  CHECK(alone.error().code == ErrorCode::deadline_exceeded);
  CHECK(alone.error().message.find("rank 0 did not arrive") != std::string::npos);
  CHECK(leaked_segments().empty());
}

TEST_CASE("shm: two callers with one rank, another world size, a taken name", "[conformance][comm]") {
  const std::string segment = fresh_segment_name();
  std::thread first([&] { (void)comm::make_shm_communicator({segment, Rank{0}, 2, milliseconds(500)}); });
  std::this_thread::sleep_for(milliseconds(100));
  const auto taken = comm::make_shm_communicator({segment, Rank{0}, 2, milliseconds(100)});
  CHECK((!taken && taken.error().code == ErrorCode::unavailable));
  const auto larger = comm::make_shm_communicator({segment, Rank{1}, 3, milliseconds(100)});
  CHECK((!larger && larger.error().code == ErrorCode::invalid_argument));
  const auto outside = comm::make_shm_communicator({segment, Rank{2}, 2, milliseconds(100)});
  CHECK((!outside && outside.error().code == ErrorCode::invalid_argument));
  first.join();
  CHECK(leaked_segments().empty());
}

TEST_CASE("shm: a rank that dies while joining ends the join", "[conformance][comm]") {
  const std::string segment = fresh_segment_name();
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([] {
      std::this_thread::sleep_for(milliseconds(100));
      ::kill(::getpid(), SIGKILL);
    }).detach();
    (void)comm::make_shm_communicator({segment, Rank{1}, 3, seconds(20)});
    ::_exit(0);
  }
  const auto start = Clock::now();
  const auto made = comm::make_shm_communicator({segment, Rank{0}, 3, seconds(20)});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::aborted);
  CHECK(made.error().message.find("rank 1 died") != std::string::npos);
  CHECK(since(start) < 2.0);
  CHECK(leaked_segments().empty());
}
