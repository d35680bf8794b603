#include "compiler/lint/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "compiler/lint/text.hpp"

extern char** environ;

namespace dtj::lint {

namespace {

namespace fs = std::filesystem;

/// Both ends of a pipe; closes what is still open.
struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) {
      read_end = ends[0];
      write_end = ends[1];
    }
  }
  ~Pipe() {
    if (read_end >= 0) close(read_end);
    if (write_end >= 0) close(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

std::string read_all(int descriptor) {
  std::string out;
  char buffer[16384];
  for (;;) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count > 0) out.append(buffer, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return out;
  }
}

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.size(), text.find('\0', at));
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// What Git knows of a folder; an error outside a work tree.
Result<std::vector<std::string>> git_files(const std::string& folder) {
  DTJ_TRY_ASSIGN(const std::string names, run_git({"-C", folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"}));
  std::vector<std::string> out;
  std::error_code ignored;
  for (const std::string& name : split_at_nul(names)) {
    const fs::path path = folder == "." ? fs::path(name) : fs::path(folder) / name;
    if (fs::is_regular_file(fs::symlink_status(path, ignored))) out.push_back(path.generic_string());
  }
  return out;
}

std::vector<std::string> plain_files(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code ignored;
  auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored);
  for (; it != fs::recursive_directory_iterator(); it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (it->is_directory(ignored) && name.size() > 1 && name.front() == '.') it.disable_recursion_pending();
    if (it->is_regular_file(ignored) && !it->is_symlink(ignored)) out.push_back(it->path().generic_string());
  }
  return out;
}

}  // namespace

Result<std::string> run_git(const std::vector<std::string>& arguments) {
  Pipe pipe;
  if (pipe.read_end < 0) return fail(ErrorCode::unavailable, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  std::vector<std::string> words{"git"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "git", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return fail(ErrorCode::not_found, "git is not installed");
  close(pipe.write_end);
  pipe.write_end = -1;
  std::string out = read_all(pipe.read_end);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(ErrorCode::invalid_argument, fmt::format("`git {}` failed", arguments.front()));
  return out;
}

Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (!fs::exists(status)) return fail(ErrorCode::not_found, fmt::format("there is no file `{}`", path));
    if (!fs::is_directory(status)) {
      out.push_back(path);
      continue;
    }
    auto known = git_files(path);
    std::vector<std::string> files = known ? std::move(*known) : plain_files(path);
    std::sort(files.begin(), files.end());
    out.insert(out.end(), files.begin(), files.end());
  }
  return out;
}

Result<std::vector<std::string>> staged_files() {
  DTJ_TRY_ASSIGN(const std::string names, run_git({"diff", "--cached", "--name-only", "--relative", "-z", "--diff-filter=ACMR"}));
  return split_at_nul(names);
}

Result<std::string> staged_text(const std::string& file) { return run_git({"show", ":./" + file}); }

Result<std::vector<AddedLines>> added_lines(const std::string& base) {
  DTJ_TRY_ASSIGN(const std::string diff, run_git({"-c", "core.quotePath=false", "diff", "-U0", "--relative", "--no-color", "--no-ext-diff", "--diff-filter=ACMR", "--src-prefix=a/", "--dst-prefix=b/", base, "--"}));
  std::vector<AddedLines> out;
  for_each_piece(diff, "\n", [&](std::string_view line) {
    if (starts_with(line, "+++ b/")) {
      out.push_back({std::string(trim_back(line.substr(6), "\t\r")), {}});
    } else if (starts_with(line, "@@ ") && !out.empty()) {
      // @@ -a,b +first,count @@
      const auto plus = line.find(" +");
      if (plus == std::string_view::npos) return;
      unsigned first = 0, count = 0;
      std::size_t at = plus + 2;
      while (at < line.size() && is_digit(line[at])) first = first * 10 + static_cast<unsigned>(line[at++] - '0');
      if (at < line.size() && line[at] == ',') {
        ++at;
        while (at < line.size() && is_digit(line[at])) count = count * 10 + static_cast<unsigned>(line[at++] - '0');
      } else {
        count = 1;
      }
      for (unsigned i = 0; i < count; ++i) out.back().lines.insert(first + i);
    }
  });
  return out;
}

}  // namespace dtj::lint
