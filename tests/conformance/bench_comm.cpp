#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "engine/comm/communicator.hpp"

// bench_comm [RANKS]: all_reduce of f32 between processes, best of many, in shared and in plain memory. Not a test.

namespace {

using namespace dtj;

double best_seconds(comm::Communicator& comm, float* data, std::int64_t count, int rounds) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    if (!comm.barrier()) std::abort();
    const auto start = Clock::now();
    if (!comm.all_reduce(data, count, DType::f32)) std::abort();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

void be_rank(const comm::ShmOptions& options) {
  auto comm = comm::make_shm_communicator(options);
  if (!comm) std::abort();
  for (const std::int64_t bytes : {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}) {
    const std::int64_t count = bytes / 4;
    auto memory = (*comm)->allocate(Bytes{bytes});
    std::vector<float> plain(static_cast<std::size_t>(count), 0.0f);
    if (!memory) std::abort();
    auto* shared = reinterpret_cast<float*>(memory->data());
    std::memset(shared, 0, memory->size());
    const int rounds = bytes <= (1 << 20) ? 500 : 15;
    const double direct = best_seconds(**comm, shared, count, rounds);
    const double staged = best_seconds(**comm, plain.data(), count, rounds);
    if (options.rank.value != 0) continue;
    std::printf("%9lld B  shared %9.1f us %6.2f GB/s   plain %9.1f us %6.2f GB/s\n", static_cast<long long>(bytes),
                direct * 1e6, static_cast<double>(bytes) / direct * 1e-9, staged * 1e6,
                static_cast<double>(bytes) / staged * 1e-9);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t world_size = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 2;
  const std::string segment = fmt::format("/dtj-bench-{}", ::getpid());
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      be_rank({segment, Rank{rank}, world_size, std::chrono::seconds(60)});
      ::_exit(0);
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failed += status != 0;
  }
  return failed == 0 ? 0 : 1;
}
