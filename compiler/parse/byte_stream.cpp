#include "compiler/parse/byte_stream.hpp"

#include <algorithm>
#include <gsl/gsl>

namespace dtj::parse {

void ByteStream::consume() {
  Expects(at_ < text_.size());
  ++at_;
}

std::size_t ByteStream::LA(ssize_t i) {
  if (i == 0) return 0;
  const ssize_t index = static_cast<ssize_t>(at_) + (i > 0 ? i - 1 : i);
  if (index < 0 || index >= static_cast<ssize_t>(text_.size())) return antlr4::IntStream::EOF;
  return static_cast<unsigned char>(text_[static_cast<std::size_t>(index)]);
}

void ByteStream::seek(std::size_t index) { at_ = std::min(index, text_.size()); }

std::string ByteStream::getText(const antlr4::misc::Interval& interval) {
  if (interval.a < 0 || interval.b < interval.a || static_cast<std::size_t>(interval.a) >= text_.size()) return {};
  const auto begin = static_cast<std::size_t>(interval.a);
  return std::string(text_.substr(begin, static_cast<std::size_t>(interval.b) + 1 - begin));
}

}  // namespace dtj::parse
