#include "compiler/diagnostics/character.hpp"

#include <algorithm>

#include "compiler/source/utf8.hpp"

namespace dtj::diag {

CharacterPosition character_position(const source::SourceFile& file, std::uint32_t offset) {
  const source::Position position = file.position(offset);
  const std::string_view line = file.line(position.line);
  std::size_t left = static_cast<std::size_t>(position.column - 1);
  CharacterPosition result{position.line, 1};
  for (std::size_t at = 0; left > 0; ++result.column) {
    const auto code_point = at < line.size() ? source::decode_utf8(line.substr(at)) : std::nullopt;
    const std::size_t num_bytes = code_point ? code_point->num_bytes : 1;
    at += num_bytes;
    left -= std::min(left, num_bytes);
  }
  return result;
}

}  // namespace dtj::diag
