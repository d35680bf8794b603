#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// Runs a program and collects what it prints; for tests.

namespace dtj::test {

struct ProcessResult {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// A running child in a process group of its own. Its output goes to files, so a full pipe never stalls it.
class Process {
 public:
  Process(const std::vector<std::string>& argv, const std::string& scratch_prefix)
      : out_path_(scratch_prefix + ".out"), err_path_(scratch_prefix + ".err") {
    std::vector<char*> args;
    for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
    args.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0);
      const int out = open(out_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int err = open(err_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int in = open("/dev/null", O_RDONLY);
      dup2(in, 0);
      dup2(out, 1);
      dup2(err, 2);
      execvp(args[0], args.data());
      _exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  pid_t pid() const { return pid_; }
  std::string err_so_far() const { return read(err_path_); }
  void kill(int signal) const { ::kill(pid_, signal); }

  /// Waits until `done()` or the child has ended or the time is over; true if `done()`.
  bool wait_until(const std::function<bool()>& done, std::chrono::seconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < deadline) {
      if (done()) return true;
      siginfo_t info = {};
      if (waitid(P_PID, id_t(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) return done();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  ProcessResult finish(std::chrono::seconds limit = std::chrono::seconds(100)) {
    ProcessResult result;
    const auto deadline = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        result.timed_out = true;
        ::kill(-pid_, SIGKILL);
        waitpid(pid_, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    pid_ = -1;
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    result.out = read(out_path_);
    result.err = read(err_path_);
    return result;
  }

 private:
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  pid_t pid_ = -1;
  std::string out_path_;
  std::string err_path_;
};

/// All processes whose parent is `parent`, by number. Read from every /proc/PID/stat: not every kernel lists children.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "stat");
    std::string text;
    std::getline(in, text);
    // PID (NAME) STATE PPID ...; the name may hold anything.
    const std::size_t end_of_name = text.rfind(')');
    if (end_of_name == std::string::npos || end_of_name + 4 > text.size()) continue;
    if (std::stol(text.substr(end_of_name + 4)) == parent) children.push_back(static_cast<pid_t>(std::stol(name)));
  }
  std::sort(children.begin(), children.end());
  return children;
}

}  // namespace dtj::test
