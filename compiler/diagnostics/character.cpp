#include "compiler/diagnostics/character.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "compiler/source/utf8.hpp"

namespace dtj::diag {
namespace {

/// How many of the first `length` bytes are ASCII, in whole words: lines are long where a tool has written them.
std::size_t count_ascii(std::string_view text, std::size_t length) {
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= std::min(length, text.size()); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  return at;
}

}  // namespace

CharacterPosition character_position(const source::SourceFile& file, std::uint32_t offset) {
  const source::Position position = file.position(offset);
  const std::string_view line = file.line(position.line);
  std::size_t left = static_cast<std::size_t>(position.column - 1);
  CharacterPosition result{position.line, 1};
  for (std::size_t at = 0; left > 0; ++result.column) {
    if (const std::size_t num_ascii = at < line.size() ? count_ascii(line.substr(at), left) : 0; num_ascii > 0) {
      at += num_ascii;
      left -= num_ascii;
      result.column += static_cast<std::int64_t>(num_ascii) - 1;  // one more at the end of the round
      continue;
    }
    const auto code_point = at < line.size() ? source::decode_utf8(line.substr(at)) : std::nullopt;
    const std::size_t num_bytes = code_point ? code_point->num_bytes : 1;
    at += num_bytes;
    left -= std::min(left, num_bytes);
  }
  return result;
}

}  // namespace dtj::diag
