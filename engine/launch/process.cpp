#include "engine/launch/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

extern char** environ;

namespace dtj::launch {
namespace {

// Everything the child needs, made before the fork: after it, other threads may have left locks held.
struct Prepared {
  std::vector<std::string> variables;
  std::vector<char*> argv, envp;
  cpu_set_t cores{};
  bool pins = false;
  pid_t parent = 0;
  int error_pipe = -1;
};

void prepare(Prepared& p, const std::vector<std::string>& command, const std::vector<std::string>& variables,
             const std::vector<int>& cores) {
  p.variables = variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "DTJ_", 4) != 0) p.envp.push_back(*variable);
  }
  for (std::string& variable : p.variables) p.envp.push_back(variable.data());
  p.envp.push_back(nullptr);
  for (const std::string& argument : command) p.argv.push_back(const_cast<char*>(argument.c_str()));
  p.argv.push_back(nullptr);
  CPU_ZERO(&p.cores);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &p.cores);
  p.pins = !cores.empty();
  p.parent = ::getpid();
}

// Async-signal-safe calls only.
[[noreturn]] void run_child(const Prepared& p) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != p.parent) ::_exit(127);  // the launcher died before the line above
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  if (p.pins) ::sched_setaffinity(0, sizeof p.cores, &p.cores);
  environ = const_cast<char**>(p.envp.data());
  ::execvp(p.argv[0], p.argv.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(p.error_pipe, &error, sizeof error);
  ::_exit(127);
}

int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  static_cast<void>(pid);
  return -1;
#endif
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::vector<std::string>& variables, const std::vector<int>& cores) {
  Prepared prepared;
  prepare(prepared, command, variables, cores);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::unavailable, fmt::format("pipe: {}", std::strerror(errno)));
  prepared.error_pipe = ends[1];
  const pid_t pid = ::fork();
  if (pid == 0) run_child(prepared);
  const int fork_error = errno;
  ::close(ends[1]);
  int exec_error = 0;
  ssize_t got = 0;
  if (pid > 0) {
    // Ends at once: exec closes the pipe, a failed exec writes to it.
    do {
      got = ::read(ends[0], &exec_error, sizeof exec_error);
    } while (got < 0 && errno == EINTR);
  }
  ::close(ends[0]);
  if (pid < 0)
    return fail(ErrorCode::unavailable, fmt::format("cannot start a process: {}", std::strerror(fork_error)));
  ChildProcess child;
  child.pid_ = pid;
  if (got == static_cast<ssize_t>(sizeof exec_error)) {
    return fail(ErrorCode::unavailable, fmt::format("cannot start `{}`: {}", command[0], std::strerror(exec_error)));
  }
  child.pidfd_ = open_pidfd(pid);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::exchange(other.pidfd_, -1)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (pidfd_ >= 0) ::close(pidfd_);
}

void ChildProcess::send_signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

std::optional<ExitStatus> ChildProcess::poll() {
  if (pid_ <= 0) return std::nullopt;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  pid_ = -1;
  // A host that reaps all its children took the status away.
  if (ended < 0) return ExitStatus{127, std::nullopt};
  if (WIFSIGNALED(status)) return ExitStatus{std::nullopt, WTERMSIG(status)};
  return ExitStatus{WEXITSTATUS(status), std::nullopt};
}

void wait_for_any(const std::vector<ChildProcess>& children, Duration limit) {
  std::vector<pollfd> polls;
  for (const ChildProcess& child : children) {
    if (child.is_running() && child.pidfd() >= 0) polls.push_back({child.pidfd(), POLLIN, 0});
  }
  if (polls.empty()) {
    std::this_thread::sleep_for(std::min<Duration>(limit, std::chrono::milliseconds(10)));
    return;
  }
  ::poll(polls.data(), polls.size(), static_cast<int>(limit / std::chrono::milliseconds(1)));
}

}  // namespace dtj::launch
