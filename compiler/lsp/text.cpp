#include "compiler/lsp/text.hpp"

#include <algorithm>
#include <cctype>
#include <gsl/gsl>

#include "compiler/source/utf8.hpp"

namespace dtj::lsp {
namespace {

/// Bytes and UTF-16 units of the character at the start of a text; ill-formed bytes count one each.
struct Step {
  std::size_t bytes = 1;
  std::int64_t units = 1;
};
Step step(std::string_view text) {
  const auto code_point = source::decode_utf8(text);
  if (!code_point) return {};
  return {code_point->num_bytes, code_point->value > 0xFFFF ? 2 : 1};
}

}  // namespace

Json position_of(const source::SourceFile& file, std::uint32_t offset) {
  const source::Position position = file.position(offset);
  const std::string_view line = file.line(position.line);
  const auto column = std::min(static_cast<std::size_t>(position.column - 1), line.size());
  std::int64_t units = 0;
  for (std::size_t at = 0; at < column;) {
    const Step next = step(line.substr(at));
    at += next.bytes;
    units += next.units;
  }
  return {{"line", position.line - 1}, {"character", units}};
}

Json range_of(source::Range range, const source::SourceFile& file) {
  return {{"start", position_of(file, range.begin)}, {"end", position_of(file, range.end)}};
}

std::uint32_t offset_of(const source::SourceFile& file, std::int64_t line, std::int64_t character) {
  if (line < 0) return 0;
  if (line >= file.num_lines()) return gsl::narrow<std::uint32_t>(file.text().size());
  const std::string_view text = file.line(gsl::narrow<std::int32_t>(line + 1));
  std::size_t at = 0;
  for (std::int64_t units = 0; at < text.size() && units < character;) {
    const Step next = step(text.substr(at));
    at += next.bytes;
    units += next.units;
  }
  return gsl::narrow<std::uint32_t>(static_cast<std::size_t>(text.data() - file.text().data()) + std::min(at, text.size()));
}

std::string path_of(const std::string& uri) {
  constexpr std::string_view scheme = "file://";
  if (uri.rfind(scheme, 0) != 0) return uri;
  std::string path;
  for (std::size_t i = scheme.size(); i < uri.size(); ++i) {
    const bool is_escape = uri[i] == '%' && i + 2 < uri.size() && std::isxdigit(static_cast<unsigned char>(uri[i + 1])) != 0 &&
                           std::isxdigit(static_cast<unsigned char>(uri[i + 2])) != 0;
    if (is_escape) {
      path += static_cast<char>(std::stoi(uri.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path;
}

std::string uri_of(const std::string& path) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += '%';
      uri += digits[byte >> 4];
      uri += digits[byte & 15u];
    }
  }
  return uri;
}

}  // namespace dtj::lsp
