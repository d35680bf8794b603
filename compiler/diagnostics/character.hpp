#pragma once

#include <cstdint>

#include "compiler/source/source.hpp"

namespace dtj::diag {

/// A place in characters instead of bytes, as JSON consumers and SARIF count.
struct CharacterPosition {
  std::int64_t line = 1;
  std::int64_t column = 1;
};
CharacterPosition character_position(const source::SourceFile& file, std::uint32_t offset);

}  // namespace dtj::diag
