#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

#include "compiler/lint/finding.hpp"

namespace dtj::lint {

/// One line shape; the kind of each capture, none for one that is only context.
struct Shape {
  const char* pattern;
  std::vector<std::optional<Kind>> kinds;
  int weight = 55;
};

/// Many line shapes, tried at once. Compiled at its first use.
class Shapes {
 public:
  explicit Shapes(std::vector<Shape> shapes);

  /// Calls `visit(shape, captures)` for every match of every shape in the text.
  template <typename Visit>
  void each_match(std::string_view text, Visit visit) const {
    if (!set_.Match(re2::StringPiece(text.data(), text.size()), &hits())) return;
    for (const int index : hits()) {
      re2::StringPiece rest(text.data(), text.size());
      const auto& regex = *compiled_[static_cast<std::size_t>(index)];
      re2::StringPiece groups[6];
      const int count = std::min(6, 1 + regex.NumberOfCapturingGroups());
      while (!rest.empty() && regex.Match(rest, 0, rest.size(), RE2::UNANCHORED, groups, count)) {
        std::vector<std::string_view> captures;
        for (int i = 1; i < count; ++i) captures.emplace_back(groups[i].data(), groups[i].size());
        visit(shapes_[static_cast<std::size_t>(index)], captures);
        // Zero progress cannot happen: no shape matches the empty text.
        rest.remove_prefix(static_cast<std::size_t>(groups[0].data() - rest.data()) + std::max<std::size_t>(1, groups[0].size()));
      }
    }
  }

 private:
  static std::vector<int>& hits();
  std::vector<Shape> shapes_;
  RE2::Set set_;
  std::vector<std::unique_ptr<RE2>> compiled_;
};

}  // namespace dtj::lint
