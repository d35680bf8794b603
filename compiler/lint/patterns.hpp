#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "compiler/lint/finding.hpp"
#include "compiler/lint/scan.hpp"

namespace dtj::lint {

/// One line shape. Its regular expression is tried only on lines that hold what it needs.
struct Shape {
  const char* atoms;  ///< lower-case literals with `|` between, one of which a match holds; "" = none is known
  const char* pattern;
  std::vector<std::optional<Kind>> kinds;  ///< of each capture, none for one that is only context
  int weight = 55;
  std::uint32_t needs = 0;  ///< triggers, all of which a match has
};

/// Line shapes of one recogniser. Each is compiled at its first use.
class Shapes {
 public:
  Shapes(Collection collection, std::vector<Shape> shapes);

  /// Calls `visit(shape, captures)` for every match of every shape in the line.
  template <typename Visit>
  void each_match(const Line& line, bool wants_all, Visit visit) const {
    std::vector<std::string_view> captures;
    const auto run = [&](std::size_t index) {
      if (!may_match(index, line, wants_all)) return;
      const re2::RE2& regex = compiled(index);
      re2::StringPiece rest(line.text.data(), line.text.size());
      re2::StringPiece groups[6];
      const int count = std::min(6, 1 + regex.NumberOfCapturingGroups());
      while (!rest.empty() && regex.Match(rest, 0, rest.size(), re2::RE2::UNANCHORED, groups, count)) {
        captures.clear();
        for (int i = 1; i < count; ++i) captures.emplace_back(groups[i].data(), groups[i].size());
        visit(shapes_[index], captures);
        // Zero progress cannot happen: no shape matches the empty text.
        rest.remove_prefix(static_cast<std::size_t>(groups[0].data() - rest.data()) + std::max<std::size_t>(1, groups[0].size()));
      }
    };
    for (const std::uint16_t index : free_) run(index);
    for (const std::uint16_t index : line.hints->of(collection_)) run(index);
  }

  const std::vector<Shape>& shapes() const { return shapes_; }
  Collection collection() const { return collection_; }

 private:
  bool may_match(std::size_t index, const Line& line, bool wants_all) const {
    const Shape& shape = shapes_[index];
    return (line.triggers & shape.needs) == shape.needs && (wants_all || !is_extra_[index]);
  }
  const re2::RE2& compiled(std::size_t index) const;

  Collection collection_;
  std::vector<Shape> shapes_;
  std::vector<std::uint16_t> free_;  ///< those without atoms
  std::vector<bool> is_extra_;       ///< all kinds are of the tier `all`
  mutable std::vector<std::unique_ptr<re2::RE2>> compiled_;
};

// The shapes of each recogniser.
const Shapes& log_shapes();
const Shapes& prose_shapes();
const Shapes& secret_shapes();
const Shapes& use_shapes();
const Shapes& result_shapes();

}  // namespace dtj::lint
