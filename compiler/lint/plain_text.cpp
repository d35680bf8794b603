#include "compiler/lint/plain_text.hpp"

#include <algorithm>

namespace dtj::lint {

namespace {

constexpr char escape = 0x1b;

/// Behind the sequence that starts at `at`: ESC [ ... letter, ESC ] ... BEL, or ESC and one byte.
std::size_t end_of_sequence(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return text.size();
  std::size_t end = at + 2;
  if (text[at + 1] == '[') {
    while (end < text.size() && end - at < 32 && (text[end] < '@' || text[end] > '~')) ++end;
    return std::min(text.size(), end + 1);
  }
  if (text[at + 1] == ']') {
    while (end < text.size() && end - at < 512 && text[end] != '\a' && text[end] != '\n' && text[end] != escape) ++end;
    return end < text.size() && text[end] == '\a' ? end + 1 : end;
  }
  return end;
}

}  // namespace

PlainText::PlainText(std::string_view original) {
  text_.reserve(original.size());
  std::uint32_t removed = 0;
  std::size_t at = 0;
  while (at < original.size()) {
    const auto next = std::min(original.size(), original.find(escape, at));
    text_.append(original.substr(at, next - at));
    if (next == original.size()) break;
    at = end_of_sequence(original, next);
    removed += static_cast<std::uint32_t>(at - next);
    cuts_.push_back({static_cast<std::uint32_t>(text_.size()), removed});
  }
}

std::uint32_t PlainText::begin_of(std::uint32_t at) const {
  const auto it = std::upper_bound(cuts_.begin(), cuts_.end(), at, [](std::uint32_t wanted, const Cut& cut) { return wanted < cut.at; });
  return at + (it == cuts_.begin() ? 0 : std::prev(it)->removed);
}

std::uint32_t PlainText::end_of(std::uint32_t at) const { return at == 0 ? 0 : begin_of(at - 1) + 1; }

}  // namespace dtj::lint
