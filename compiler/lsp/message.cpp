#include "compiler/lsp/message.hpp"

#include <algorithm>
#include <cctype>
#include <istream>
#include <ostream>

namespace dtj::lsp {
namespace {

constexpr std::size_t max_bytes = std::size_t{64} << 20;
constexpr std::size_t max_header = 4096;

/// A header line without its end; none: the stream has ended.
std::optional<std::string> read_line(std::istream& in) {
  std::string line;
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    if (line.size() < max_header) line += static_cast<char>(c);
  }
  return std::nullopt;
}

std::optional<std::size_t> length_of(const std::string& line) {
  static const std::string name = "content-length:";
  if (line.size() <= name.size()) return std::nullopt;
  const bool is_length = std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  if (!is_length) return std::nullopt;
  std::size_t length = 0;
  bool has_digit = false;
  for (const char c : line.substr(name.size())) {
    if (c == ' ') continue;
    if (c < '0' || c > '9' || length > max_bytes) return std::nullopt;
    length = length * 10 + static_cast<std::size_t>(c - '0');
    has_digit = true;
  }
  return has_digit && length <= max_bytes ? std::optional(length) : std::nullopt;
}

}  // namespace

std::optional<std::string> read_message(std::istream& in) {
  std::optional<std::size_t> length;
  while (true) {
    const auto line = read_line(in);
    if (!line) return std::nullopt;
    if (const auto stated = length_of(*line)) length = stated;
    if (!line->empty() || !length) continue;
    std::string body(*length, '\0');
    in.read(body.data(), static_cast<std::streamsize>(body.size()));
    if (static_cast<std::size_t>(in.gcount()) != body.size()) return std::nullopt;
    return body;
  }
}

void write_message(std::ostream& out, const std::string& body) {
  out << "Content-Length: " << body.size() << "\r\n\r\n" << body << std::flush;
}

}  // namespace dtj::lsp
