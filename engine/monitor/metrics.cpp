#include "engine/monitor/metrics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace dtj::monitor {
namespace {

void append(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  // The shortest text that reads back as the same number.
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

void append(std::string& out, std::int64_t value) {
  out += std::to_string(value);
}

void append(std::string& out, bool value) {
  out += value ? "true" : "false";
}

void append(std::string& out, std::string_view value) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

class FileMetricsWriter final : public MetricsWriter {
 public:
  FileMetricsWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  FileMetricsWriter(const FileMetricsWriter&) = delete;
  FileMetricsWriter& operator=(const FileMetricsWriter&) = delete;
  ~FileMetricsWriter() override { ::close(fd_); }

  Status write(gsl::span<const MetricsField> record) override {
    line_ = "{";
    for (const MetricsField& field : record) {
      if (line_.size() > 1) line_ += ',';
      append(line_, field.name);
      line_ += ':';
      std::visit([&](const auto& value) { append(line_, value); }, field.value);
    }
    line_ += "}\n";
    std::string_view rest = line_;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const auto code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::out_of_memory : ErrorCode::unavailable;
        return fail(code, "cannot write metrics to `" + path_ + "`: " + std::strerror(errno));
      }
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

 private:
  int fd_;
  std::string path_;
  std::string line_;
};

}  // namespace

Result<std::unique_ptr<MetricsWriter>> MetricsWriter::open(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // opening the file tells what is wrong
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return fail(ErrorCode::unavailable, "cannot write metrics to `" + path + "`: " + std::strerror(errno));
  return std::make_unique<FileMetricsWriter>(fd, path);
}

}  // namespace dtj::monitor
