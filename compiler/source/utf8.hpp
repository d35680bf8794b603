#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace dtj::source {

/// A code point and the number of bytes that spell it.
struct CodePoint {
  char32_t value = 0;
  std::size_t num_bytes = 1;
};

/// Decodes the code point at the start of `text`; none for the empty text and for ill-formed bytes (overlong forms,
/// surrogates, values over U+10FFFF and cut sequences included).
std::optional<CodePoint> decode_utf8(std::string_view text);

/// Byte offset of the first ill-formed byte; none if all of `text` is UTF-8.
std::optional<std::size_t> find_ill_formed_utf8(std::string_view text);

/// Columns that a terminal gives to a code point: 0, 1 or 2.
int display_width(char32_t code_point);

}  // namespace dtj::source
