#include "compiler/lint/patterns.hpp"

#include <mutex>

#include <gsl/assert>

namespace dtj::lint {

namespace {

re2::RE2::Options quiet() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // any bytes are text
  return options;
}

}  // namespace

Shapes::Shapes(Collection collection, std::vector<Shape> shapes) : collection_(collection), shapes_(std::move(shapes)), is_extra_(shapes_.size()), compiled_(shapes_.size()) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const auto is_extra = [](const std::optional<Kind>& kind) { return !kind || rule_of(*kind).tier == Tier::all; };
    is_extra_[i] = std::all_of(shapes_[i].kinds.begin(), shapes_[i].kinds.end(), is_extra);
    if (*shapes_[i].atoms == '\0') free_.push_back(static_cast<std::uint16_t>(i));
  }
}

const re2::RE2& Shapes::compiled(std::size_t index) const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& regex = compiled_[index];
  if (!regex) {
    regex = std::make_unique<re2::RE2>(shapes_[index].pattern, quiet());
    Ensures(regex->ok());
  }
  return *regex;
}

}  // namespace dtj::lint
