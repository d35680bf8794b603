#pragma once

#include <cstdint>
#include <functional>

namespace dtj {

/// A number that names one kind of thing and converts to no other kind.
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  friend bool operator==(Id a, Id b) { return a.value == b.value; }
  friend bool operator!=(Id a, Id b) { return a.value != b.value; }
  friend bool operator<(Id a, Id b) { return a.value < b.value; }
};

using Rank = Id<struct RankTag>;

}  // namespace dtj

template <class Tag>
struct std::hash<dtj::Id<Tag>> {
  std::size_t operator()(dtj::Id<Tag> id) const noexcept { return id.value; }
};
