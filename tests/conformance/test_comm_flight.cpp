#include <atomic>
#include <thread>

#include "tests/conformance/comm_harness.hpp"
#include "tests/conformance/comm_values.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using namespace dtj::test;

TEST_CASE("collectives: many in flight, waited for in any order", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(kind, [](comm::Communicator& comm, RankReport& report) {
      // More operations than the communicator has slots, of both kinds of memory, small and of several chunks.
      constexpr int num = 80;
      std::vector<WorkMemory> memories;
      std::vector<comm::Ticket> tickets;
      std::vector<std::int64_t> sizes;
      memories.reserve(num);
      for (int i = 0; i < num; ++i) {
        sizes.push_back(i % 20 == 3 ? 270001 : 1 + 37 * i);
        memories.emplace_back(comm, sizes.back() * 4, i % 2 == 0);
        memories.back().fill(make_input(comm.rank().value, sizes.back(), DType::f32));
      }
      for (int i = 0; i < num; ++i) {
        const auto ticket = comm.all_reduce_start(memories[static_cast<std::size_t>(i)].data(),
                                                  sizes[static_cast<std::size_t>(i)], DType::f32);
        report.check(ticket.has_value(), "start");
        if (!ticket) return;
        tickets.push_back(*ticket);
      }
      for (int i = 0; i < num; ++i) {
        // Every rank in another order.
        const auto at = static_cast<std::size_t>((i * 7 + static_cast<int>(comm.rank().value) * 13) % num);
        report.check(comm.wait(tickets[at]), "wait");
        report.check(memories[at].equals(expected_sum(comm.world_size(), sizes[at], DType::f32)),
                     "sum " + std::to_string(at));
      }
      // Waiting once more for something finished is no error.
      report.check(comm.wait(tickets[5]), "second wait");
    });
  }
}

TEST_CASE("collectives: unlike operations in flight do not disturb each other", "[conformance][comm]") {
  for (const CommKind& kind : comm_kinds_with_peers()) {
    expect_on_all_ranks(kind, [](comm::Communicator& comm, RankReport& report) {
      const auto world = static_cast<std::uint32_t>(comm.world_size());
      const Rank self = comm.rank(), next{(self.value + 1) % world}, previous{(self.value + world - 1) % world};
      constexpr std::int64_t count = 20011;
      for (int round = 0; round < 5; ++round) {
        WorkMemory sum(comm, count * 4, true), gathered(comm, count * 8 * world, false), out(comm, count * 8, false);
        WorkMemory in(comm, count * 8, false), cast(comm, count * 2, false);
        sum.fill(make_input(self.value, count, DType::f32));
        const Data mine = make_input(self.value, count, DType::f64);
        std::copy(mine.begin(), mine.end(), gathered.data() + static_cast<std::ptrdiff_t>(mine.size() * self.value));
        out.fill(make_input(self.value, count, DType::i64));
        cast.fill(make_input(self.value, count, DType::bf16));
        // The sender is early and the receiver late: a send must not hold up the collectives behind it.
        const auto sent = comm.send_start(out.data(), count, DType::i64, next);
        const auto gather = comm.all_gather_start(gathered.data(), count, DType::f64);
        const auto reduce = comm.all_reduce_start(sum.data(), count, DType::f32);
        const auto spread = comm.broadcast_start(cast.data(), count, DType::bf16, Rank{world - 1});
        report.check(sent && gather && reduce && spread, "start");
        if (!sent || !gather || !reduce || !spread) return;
        report.check(comm.wait(*spread), "broadcast");
        report.check(comm.wait(*gather), "all_gather");
        const auto received = comm.recv_start(in.data(), count, DType::i64, previous);
        report.check(received && comm.wait(*received), "recv");
        report.check(comm.wait(*sent), "send");
        report.check(comm.wait(*reduce), "all_reduce");
        report.check(comm.barrier(), "barrier");
        report.check(sum.equals(expected_sum(world, count, DType::f32)), "sum");
        report.check(in.equals(make_input(previous.value, count, DType::i64)), "received");
        report.check(cast.equals(make_input(world - 1, count, DType::bf16)), "broadcast data");
      }
    });
  }
}

TEST_CASE("collectives: thousands of small ones stay right", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(kind, [](comm::Communicator& comm, RankReport& report) {
      const auto world = comm.world_size();
      for (std::int64_t i = 0; i < 1000; ++i) {
        std::int64_t values[2] = {i + comm.rank().value, 1};
        report.check(comm.all_reduce(values, 2, DType::i64), "all_reduce");
        report.check(values[0] == world * i + world * (world - 1) / 2 && values[1] == world,
                     "sum " + std::to_string(i));
        if (!report.text().empty()) return;
      }
    });
  }
}

TEST_CASE("barrier: nobody leaves before everybody has come", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    if (kind.transport == CommKind::Transport::shm) continue;  // the counter below is seen by threads only
    std::atomic<int> arrived{0};
    expect_on_all_ranks(kind, [&](comm::Communicator& comm, RankReport& report) {
      for (int round = 1; round <= 50; ++round) {
        if ((comm.rank().value + static_cast<std::uint32_t>(round)) % 3 == 0) std::this_thread::yield();
        ++arrived;
        report.check(comm.barrier(), "barrier");
        report.check(arrived >= round * comm.world_size(), "left early");
        report.check(comm.barrier(), "second barrier");
      }
    });
  }
}

TEST_CASE("allocate: the memory is zeroed, aligned, and outlives its communicator", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(kind, [](comm::Communicator& comm, RankReport& report) {
      for (const std::int64_t size : {0, 1, 100000}) {
        auto memory = comm.allocate(Bytes{size});
        report.check(memory.has_value(), "allocate");
        if (!memory) return;
        report.check(memory->size() == static_cast<std::size_t>(size), "size");
        report.check(reinterpret_cast<std::uintptr_t>(memory->data()) % 64 == 0, "alignment");
        for (std::int64_t i = 0; i < size; ++i) report.check(memory->data()[i] == std::byte{0}, "zeros");
        for (std::int64_t i = 0; i < size; ++i) memory->data()[i] = std::byte{1};
      }
    });
  }
  device::Memory kept;
  {
    auto ranks = comm::make_shm_communicator({fresh_segment_name(), Rank{0}, 1, std::chrono::seconds(5)});
    REQUIRE(ranks);
    auto memory = (*ranks)->allocate(Bytes{100});
    REQUIRE(memory);
    kept = std::move(*memory);
  }
  kept.data()[99] = std::byte{7};
  CHECK(kept.data()[99] == std::byte{7});
}
