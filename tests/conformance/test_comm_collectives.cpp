#include <algorithm>
#include <set>

#include "tests/conformance/comm_harness.hpp"
#include "tests/conformance/comm_values.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

std::int64_t bytes_of(std::int64_t count, DType dtype) {
  return count * static_cast<std::int64_t>(size_of(dtype));
}

/// The case body for every dtype, count and kind of memory, and once for more than two staging chunks, which the slices
/// of all ranks share when the operation `is_sliced`.
template <class Body>
RankBody for_all(const std::vector<DType>& dtypes, Body body, bool is_sliced = false) {
  return [dtypes, body, is_sliced](comm::Communicator& communicator, RankReport& report) {
    for (const bool is_registered : {false, true}) {
      for (const DType dtype : dtypes) {
        for (const std::int64_t count : counts) body(communicator, report, dtype, count, is_registered);
      }
      const std::int64_t large = is_sliced ? large_count / communicator.world_size() : large_count;
      body(communicator, report, DType::f32, large, is_registered);
    }
  };
}

/// Slice `index` of `from` as its own array.
Data slice(const Data& from, std::int64_t index, std::int64_t bytes) {
  return Data(from.begin() + index * bytes, from.begin() + (index + 1) * bytes);
}

void append(Data& to, const Data& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

TEST_CASE("all_reduce: the canonical tree on every rank, bit for bit", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(
        kind, for_all(summable_dtypes, [](auto& comm, auto& report, DType dtype, std::int64_t count, bool reg) {
          WorkMemory memory(comm, bytes_of(count, dtype), reg);
          const Data sum = expected_sum(comm.world_size(), count, dtype);
          // Twice over the same memory: what is left of the first round must not reach the second.
          for (int round = 0; round < 2; ++round) {
            memory.fill(make_input(comm.rank().value, count, dtype));
            report.check(comm.all_reduce(memory.data(), count, dtype), "all_reduce " + describe(dtype, count, reg));
            report.check(memory.equals(sum), "sum of " + describe(dtype, count, reg));
          }
        }));
  }
}

TEST_CASE("reduce_scatter: every rank gets its slice of the sum", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(
        kind, for_all(
                  summable_dtypes,
                  [](auto& comm, auto& report, DType dtype, std::int64_t count, bool reg) {
                    const std::int64_t total = count * comm.world_size();
                    WorkMemory memory(comm, bytes_of(total, dtype), reg);
                    memory.fill(make_input(comm.rank().value, total, dtype));
                    report.check(comm.reduce_scatter(memory.data(), count, dtype),
                                 "reduce_scatter " + describe(dtype, count, reg));
                    const std::int64_t bytes = bytes_of(count, dtype);
                    const Data mine(memory.data() + comm.rank().value * bytes,
                                    memory.data() + (comm.rank().value + 1) * bytes);
                    report.check(mine == slice(expected_sum(comm.world_size(), total, dtype), comm.rank().value, bytes),
                                 "slice of " + describe(dtype, count, reg));
                  },
                  true));
  }
}

TEST_CASE("all_gather: restores rank order", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(
        kind, for_all(all_dtypes, [](auto& comm, auto& report, DType dtype, std::int64_t count, bool reg) {
          const std::int64_t bytes = bytes_of(count, dtype);
          WorkMemory memory(comm, bytes * comm.world_size(), reg);
          const Data mine = make_input(comm.rank().value, count, dtype);
          std::copy(mine.begin(), mine.end(), memory.data() + comm.rank().value * bytes);
          report.check(comm.all_gather(memory.data(), count, dtype), "all_gather " + describe(dtype, count, reg));
          Data expected;
          for (std::int64_t rank = 0; rank < comm.world_size(); ++rank)
            append(expected, make_input(rank, count, dtype));
          report.check(memory.equals(expected), "gathered " + describe(dtype, count, reg));
        }));
  }
}

TEST_CASE("broadcast: the root reaches everybody", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(
        kind, for_all(all_dtypes, [](auto& comm, auto& report, DType dtype, std::int64_t count, bool reg) {
          // The first and the last; ranks between them are no different.
          for (const std::uint32_t root :
               std::set<std::uint32_t>{0, static_cast<std::uint32_t>(comm.world_size() - 1)}) {
            WorkMemory memory(comm, bytes_of(count, dtype), reg);
            memory.fill(make_input(comm.rank().value, count, dtype));
            report.check(comm.broadcast(memory.data(), count, dtype, Rank{root}),
                         "broadcast " + describe(dtype, count, reg));
            report.check(memory.equals(make_input(root, count, dtype)), "from root, " + describe(dtype, count, reg));
          }
        }));
  }
}

TEST_CASE("all_to_all: transposes slices", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(kind, for_all(
                                  all_dtypes,
                                  [](auto& comm, auto& report, DType dtype, std::int64_t count, bool reg) {
                                    const std::int64_t total = count * comm.world_size();
                                    const std::int64_t bytes = bytes_of(count, dtype);
                                    WorkMemory send(comm, bytes_of(total, dtype), reg);
                                    WorkMemory recv(comm, bytes_of(total, dtype), false);
                                    send.fill(make_input(comm.rank().value, total, dtype));
                                    report.check(comm.all_to_all(send.data(), recv.data(), count, dtype),
                                                 "all_to_all " + describe(dtype, count, reg));
                                    Data expected;
                                    for (std::int64_t rank = 0; rank < comm.world_size(); ++rank) {
                                      append(expected, slice(make_input(rank, total, dtype), comm.rank().value, bytes));
                                    }
                                    report.check(recv.equals(expected), "received " + describe(dtype, count, reg));
                                    report.check(send.equals(make_input(comm.rank().value, total, dtype)),
                                                 "sent data changed");
                                  },
                                  true));
  }
}

TEST_CASE("send, recv: around the ring", "[conformance][comm]") {
  for (const CommKind& kind : comm_kinds_with_peers()) {
    expect_on_all_ranks(
        kind, for_all(all_dtypes, [](auto& comm, auto& report, DType dtype, std::int64_t count, bool reg) {
          const auto world = static_cast<std::uint32_t>(comm.world_size());
          const Rank next{(comm.rank().value + 1) % world}, previous{(comm.rank().value + world - 1) % world};
          WorkMemory out(comm, bytes_of(count, dtype), reg);
          WorkMemory in(comm, bytes_of(count, dtype), false);
          out.fill(make_input(comm.rank().value, count, dtype));
          const auto sent = comm.send_start(out.data(), count, dtype, next);
          const auto received = comm.recv_start(in.data(), count, dtype, previous);
          report.check(sent && received, "start");
          if (!sent || !received) return;
          report.check(comm.wait(*received), "recv " + describe(dtype, count, reg));
          report.check(comm.wait(*sent), "send " + describe(dtype, count, reg));
          report.check(in.equals(make_input(previous.value, count, dtype)), "data of " + describe(dtype, count, reg));
        }));
  }
}

TEST_CASE("collectives: impossible arguments are refused on the spot", "[conformance][comm]") {
  for (const CommKind& kind : all_comm_kinds()) {
    expect_on_all_ranks(kind, [](comm::Communicator& comm, RankReport& report) {
      float x = 0;
      const Rank outside{static_cast<std::uint32_t>(comm.world_size())};
      const auto refused = [&](const auto& result) {
        return !result && result.error().code == ErrorCode::invalid_argument;
      };
      report.check(refused(comm.all_reduce_start(&x, -1, DType::f32)), "negative count");
      report.check(refused(comm.all_reduce_start(&x, 1, DType::u8)), "sum of u8");
      report.check(refused(comm.reduce_scatter_start(&x, 1, DType::f16)), "sum of f16");
      report.check(refused(comm.broadcast_start(&x, 1, DType::f32, outside)), "root outside");
      report.check(refused(comm.send_start(&x, 1, DType::f32, comm.rank())), "send to itself");
      report.check(refused(comm.recv_start(&x, 1, DType::f32, outside)), "receive from outside");
      // None of these counted as an operation.
      x = 1;
      report.check(comm.all_reduce(&x, 1, DType::f32), "all_reduce after refusals");
      report.check(x == static_cast<float>(comm.world_size()), "sum after refusals");
    });
  }
}
