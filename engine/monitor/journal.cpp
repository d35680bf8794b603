#include "engine/monitor/journal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "engine/base/units.hpp"

namespace dtj::monitor {
namespace {

constexpr std::uint64_t magic = 0x314c4e524a544400ull;

/// A record guarded by a sequence counter: odd while it is being written. Only the owner writes. Words are atomic so
/// that a reader in another process sees whole words at worst from two updates, which the counter tells.
template <std::size_t NumWords>
struct Record {
  std::atomic<std::uint64_t> version;
  std::array<std::atomic<std::uint64_t>, NumWords> words;
};

constexpr std::size_t text_words = 14;
using TextRecord = Record<2 + text_words>;

struct File {
  std::atomic<std::uint64_t> magic;
  Record<2 + 2> step;     // step, text length, phase
  TextRecord plan_step;   // index, text length, label
  TextRecord collective;  // sequence * 2 + waiting, text length, name
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

template <std::size_t NumWords>
void write(Record<NumWords>& record, std::uint64_t number, std::string_view text) {
  constexpr std::size_t capacity = (NumWords - 2) * sizeof(std::uint64_t);
  const std::size_t length = std::min(text.size(), capacity);
  const std::uint64_t version = record.version.load(std::memory_order_relaxed);
  record.version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.words[0].store(number, std::memory_order_relaxed);
  record.words[1].store(length, std::memory_order_relaxed);
  for (std::size_t at = 0, word = 2; at < length; at += sizeof(std::uint64_t), ++word) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, std::min(sizeof(bytes), length - at));
    record.words[word].store(bytes, std::memory_order_relaxed);
  }
  record.version.store(version + 2, std::memory_order_release);
}

struct Reading {
  std::uint64_t number = 0;
  std::string text;
  bool is_written = false;
};

template <std::size_t NumWords>
Reading read(const Record<NumWords>& record) {
  constexpr std::size_t capacity = (NumWords - 2) * sizeof(std::uint64_t);
  std::array<std::uint64_t, NumWords> words{};
  std::uint64_t before = 0;
  // The writer may be off its core in the middle of an update, so trying goes on for longer than a time slice. One that
  // was killed there leaves the counter odd for good: the last try takes what is there.
  const Deadline deadline = Clock::now() + std::chrono::milliseconds(100);
  for (int attempt = 1;; ++attempt) {
    before = record.version.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < NumWords; ++i) words[i] = record.words[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && record.version.load(std::memory_order_relaxed) == before) break;
    if (attempt % 64 != 0) continue;
    if (Clock::now() >= deadline) break;
    std::this_thread::yield();
  }
  const std::size_t length = std::min<std::uint64_t>(words[1], capacity);
  return {words[0], std::string(reinterpret_cast<const char*>(&words[2]), length), before != 0};
}

class MappedJournal final : public Journal {
 public:
  explicit MappedJournal(File* file) : file_(file) {}
  MappedJournal(const MappedJournal&) = delete;
  MappedJournal& operator=(const MappedJournal&) = delete;
  ~MappedJournal() override { ::munmap(file_, sizeof(File)); }

  void set_step(std::int64_t step, const char* phase) override {
    write(file_->step, static_cast<std::uint64_t>(step), phase);
  }
  void set_plan_step(std::uint32_t index, std::string_view label) override { write(file_->plan_step, index, label); }
  void set_collective(std::uint64_t sequence, std::string_view name, bool waiting) override {
    write(file_->collective, sequence * 2 + (waiting ? 1 : 0), name);
  }

 private:
  File* file_;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> io_failure(std::string_view what, const std::string& path) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
  return fail(code, fmt::format("cannot {} the journal `{}`: {}", what, path, std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<Journal>> create_journal(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd.get() < 0) return io_failure("create", path);
  // Blocks are taken now: a full disk shows here and not as SIGBUS in the middle of a step.
  if (const int error = ::posix_fallocate(fd.get(), 0, sizeof(File)); error != 0) {
    errno = error;
    return io_failure("size", path);
  }
  void* address = ::mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return io_failure("map", path);
  auto* file = static_cast<File*>(address);
  file->magic.store(magic, std::memory_order_release);
  return std::unique_ptr<Journal>(std::make_unique<MappedJournal>(file));
}

Result<JournalEntry> read_journal(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return io_failure("open", path);
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size < static_cast<off_t>(sizeof(File))) {
    return fail(ErrorCode::data_loss, fmt::format("the journal `{}` is truncated: {} bytes", path, size));
  }
  void* address = ::mmap(nullptr, sizeof(File), PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return io_failure("map", path);
  const auto* file = static_cast<const File*>(address);
  const bool is_journal = file->magic.load(std::memory_order_acquire) == magic;
  const Reading step = read(file->step);
  const Reading plan_step = read(file->plan_step);
  const Reading collective = read(file->collective);
  ::munmap(address, sizeof(File));
  if (!is_journal) return fail(ErrorCode::data_loss, fmt::format("`{}` is not a journal", path));

  JournalEntry entry;
  if (step.is_written) entry.step = static_cast<std::int64_t>(step.number);
  entry.phase = step.text;
  entry.plan_step = static_cast<std::uint32_t>(plan_step.number);
  entry.label = plan_step.text;
  entry.sequence = collective.number / 2;
  entry.collective = collective.text;
  entry.waiting = collective.number % 2 == 1;
  return entry;
}

}  // namespace dtj::monitor
