#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include <sys/resource.h>

#include <fmt/format.h>

#include "dtj/lint.hpp"

// How fast files are read, next to `grep -E` with one pattern; input that is made to be slow; memory.
//   bench_lint [MEGABYTES, default 256] [FOLDER for the files, default /tmp]

namespace {

using Clock = std::chrono::steady_clock;

/// What a job leaves behind: a batch script, its notes, and above all its log.
std::string block(int number) {
  std::string out = fmt::format(
      "#!/bin/bash\n#SBATCH --job-name=run{0}\n#SBATCH --partition=kiteq_{1}\n#SBATCH --account=kite-lab{1}\n#SBATCH --nodes=4\n#SBATCH --time=1-00:00:00\n"
      "set -euo pipefail\nmodule load cuda/12.4 nccl/2.21\nexport MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n1)\n"
      "export OMP_NUM_THREADS=8\ncd /kitefs/lab{1}/user{0}/run\nsrun python train.py --lr 3e-4 --batch-size 128 --data ./data\n\n"
      "# Run {0}\n\nThe second run uses a longer warmup; see `train.py` for what changed. It follows the usual recipe.\n\n",
      number, number % 7);
  for (int i = 0; i < 400; ++i) {
    const double loss = 10.0 / (1 + i * 0.01);
    out += fmt::format("2026-01-{:02} 10:{:02}:{:02},{:03} INFO trainer: step {} loss {:.4f} lr {:.2e} grad_norm {:.3f} tokens {} time {:.1f}s\n", 1 + number % 28, i / 60 % 60,
                       i % 60, i % 1000, i, loss, 3e-4, 1.0 + 1.0 / (i + 1), i * 524288, i * 1.7);
    if (i % 40 == 7) out += fmt::format("[rank{}] saved checkpoint step_{:06}.pt in {:.2f} s ({} tensors, {:.1f} GB)\n", i % 8, i, 3.1, 292, 12.4);
    if (i % 100 == 9) out += fmt::format("kn{:03}:{}:{} [{}] NCCL INFO Channel {:02}/0 : 0[0] -> 1[1] via P2P/IPC\n", number % 512, 40000 + i, 40001 + i, i % 8, i % 32);
  }
  for (int i = 0; i < 20; ++i) {
    out += fmt::format("    x = self.norm(x + self.attention(x, mask=mask, cache=cache[{}]))  # residual\n    return self.dropout(x) if self.training else x\n", i);
  }
  return out;
}

void write(const std::string& path, std::size_t bytes, const std::function<std::string(int)>& piece) {
  std::ofstream file(path, std::ios::binary);
  std::size_t written = 0;
  for (int i = 0; written < bytes; ++i) {
    const std::string text = piece(i);
    file << text;
    written += text.size();
  }
}

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void measure(const char* what, const std::string& path, std::size_t bytes) {
  std::size_t findings = 0;
  dtj::lint::Request request;
  request.paths = {path};
  request.config = DTJ_SOURCE_DIR "/tests/lint/corpus.toml";
  request.on_finding = [&](const dtj::lint::Finding&) { ++findings; };
  const double seconds = seconds_of([&] { dtj::lint::check(request); });
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<34} {:>7.1f} MB/s  {:>8.2f} s  {:>9} findings  {:>6} MB at most\n", what, static_cast<double>(bytes) / 1e6 / seconds, seconds, findings, usage.ru_maxrss / 1024);
}

void bench(const char* what, const std::string& path, std::size_t bytes, const std::function<std::string(int)>& piece) {
  write(path, bytes, piece);
  measure(what, path, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256;
  const std::string path = std::string(argc > 2 ? argv[2] : "/tmp") + "/dtj_bench_lint.log";
  const std::size_t bytes = megabytes * 1'000'000, long_line = 100'000'000;
  bench("mix of scripts, notes and logs", path, bytes, block);
  const double grep = seconds_of([&] { static_cast<void>(std::system(fmt::format("LC_ALL=C grep -cE '(--partition|-p)[ =]?[a-z]+q_[0-9]' '{}' | cat > /dev/null", path).c_str())); });
  fmt::print("{:<34} {:>7.1f} MB/s  {:>8.2f} s\n", "grep -E, one pattern, same file", static_cast<double>(bytes) / 1e6 / grep, grep);
  bench("one line, words", path, long_line, [](int) { return std::string("lorem ipsum dolor sit amet 12.5 "); });
  bench("one line, no blank", path, long_line, [](int) { return std::string("abcdefghijklmnopqrstuvwxyz012345"); });
  bench("one line, keys", path, long_line, [](int) { return std::string("host=a,port=1,user=b,account=c;"); });
  bench("one line, quotes", path, long_line, [](int) { return std::string("\"'`\"'${a:-\"'`"); });
  bench("one line, slashes and dots", path, long_line, [](int i) { return std::string(i % 2 == 0 ? "/a.b/../" : "://@.:"); });
  bench("one line, brackets", path, long_line, [](int) { return std::string("<{[(${$("); });
  bench("a million directives", path, 30'000'000, [](int i) { return fmt::format("#SBATCH --partition=p{}_q\n", i); });
  std::remove(path.c_str());
  return 0;
}
