#include "compiler/lint/patterns.hpp"

#include <gsl/assert>

namespace dtj::lint {

namespace {

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // any bytes are text
  return options;
}

}  // namespace

Shapes::Shapes(std::vector<Shape> shapes) : shapes_(std::move(shapes)), set_(quiet(), RE2::UNANCHORED) {
  for (const Shape& shape : shapes_) {
    const int index = set_.Add(shape.pattern, nullptr);
    compiled_.push_back(std::make_unique<RE2>(shape.pattern, quiet()));
    Ensures(index >= 0 && compiled_.back()->ok());
  }
  Ensures(set_.Compile());
}

std::vector<int>& Shapes::hits() {
  thread_local std::vector<int> indices;
  return indices;
}

}  // namespace dtj::lint
