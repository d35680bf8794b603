#include "compiler/source/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace dtj::source {
namespace {

struct Span {
  char32_t first;
  char32_t last;
};

// Unicode East Asian Width "W" and "F", in coarse blocks.
constexpr Span wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF},
    {0x20000, 0x3FFFD}};

constexpr Span zero_width[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                               {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E},
                               {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
                               {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

template <std::size_t N>
bool contains(const Span (&spans)[N], char32_t c) {
  const auto* it = std::upper_bound(std::begin(spans), std::end(spans), c,
                                    [](char32_t value, const Span& span) { return value < span.first; });
  return it != std::begin(spans) && c <= std::prev(it)->last;
}

}  // namespace

std::optional<CodePoint> decode_utf8(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return CodePoint{lead, 1};
  const std::size_t num_bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < num_bytes) return std::nullopt;
  char32_t value = lead & (0x7Fu >> num_bytes);
  for (std::size_t i = 1; i < num_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80) return std::nullopt;
    value = (value << 6) | (byte & 0x3Fu);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < smallest[num_bytes] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return std::nullopt;
  return CodePoint{value, num_bytes};
}

std::optional<std::size_t> find_ill_formed_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto code_point = decode_utf8(text.substr(at));
    if (!code_point) return at;
    at += code_point->num_bytes;
  }
  return std::nullopt;
}

int display_width(char32_t code_point) {
  if (code_point < 0x300) return 1;
  if (contains(zero_width, code_point)) return 0;
  return contains(wide, code_point) ? 2 : 1;
}

}  // namespace dtj::source
