#include "engine/comm/shm/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace dtj::comm::shm {
namespace {

struct Stat {
  char state = '?';
  std::uint64_t start_time = 0;
};

/// Fields 3 and 22 of /proc/PID/stat (proc(5)).
std::optional<Stat> read_stat(std::int32_t pid) {
  std::array<char, 64> path{};
  fmt::format_to_n(path.begin(), path.size() - 1, "/proc/{}/stat", pid);
  const int fd = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<char, 1024> text{};
  const ssize_t length = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (length <= 0) return std::nullopt;
  // The second field is the program's name in parentheses and may hold spaces and parentheses itself.
  const char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || std::strlen(at) < 3) return std::nullopt;
  Stat stat;
  stat.state = at[2];
  at += 2;
  for (int field = 3; field < 22 && at != nullptr; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  if (at != nullptr) stat.start_time = std::strtoull(at, nullptr, 10);
  return stat;
}

}  // namespace

ProcessId this_process() {
  const auto pid = static_cast<std::int32_t>(::getpid());
  const auto stat = read_stat(pid);
  return {pid, stat ? stat->start_time : 0};
}

bool has_ended(const ProcessId& process) {
  if (::kill(process.pid, 0) != 0 && errno == ESRCH) return true;
  const auto stat = read_stat(process.pid);
  // Without /proc only the signal can tell.
  if (!stat) return false;
  return stat->state == 'Z' || stat->state == 'X' ||
         (process.start_time != 0 && stat->start_time != process.start_time);
}

}  // namespace dtj::comm::shm
