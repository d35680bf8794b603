#include <algorithm>
#include <gsl/gsl>

#include "compiler/source/source.hpp"

namespace dtj::source {

Range join(Range a, Range b) {
  if (a.is_none) return b;
  if (b.is_none) return a;
  Expects(a.file == b.file);
  return Range::of(a.file, std::min(a.begin, b.begin), std::max(a.end, b.end));
}

bool is_outside(Range inner, Range outer) {
  return inner.file != outer.file || inner.begin < outer.begin || inner.end > outer.end;
}

SourceFile::SourceFile(FileId id, std::string name, std::string text, Privacy privacy)
    : id_(id), name_(std::move(name)), text_(std::move(text)), privacy_(privacy) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(gsl::narrow<std::uint32_t>(i + 1));
  }
}

Position SourceFile::position(std::uint32_t offset) const {
  offset = std::min(offset, gsl::narrow<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto start = std::prev(next);
  return Position{gsl::narrow<std::int32_t>(next - line_starts_.begin()), gsl::narrow<std::int32_t>(offset - *start) + 1};
}

std::int32_t SourceFile::num_lines() const { return gsl::narrow<std::int32_t>(line_starts_.size()); }

std::string_view SourceFile::line(std::int32_t number) const {
  Expects(number >= 1 && number <= num_lines());
  const auto index = static_cast<std::size_t>(number - 1);
  const std::size_t begin = line_starts_[index];
  std::size_t end = index + 1 < line_starts_.size() ? line_starts_[index + 1] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

std::string_view SourceFile::slice(Range range) const {
  if (range.is_none || range.begin >= text_.size() || range.end <= range.begin) return {};
  Expects(range.file == id_);
  return std::string_view(text_).substr(range.begin, range.end - range.begin);
}

}  // namespace dtj::source
