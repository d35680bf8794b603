#pragma once

#include <algorithm>
#include <cstdint>

namespace dtj::device {

/// One output tile of a matrix product: rows [m0, m0 + m), columns [n0, n0 + n) of one batch entry.
struct Tile {
  std::int64_t batch, m0, n0, m, n;
};

/// Cuts the output along its longer side. A function of the shape only.
class Tiling {
 public:
  Tiling(std::int64_t batch, std::int64_t m, std::int64_t n) : m_(m), n_(n), split_m_(m >= n) {
    const std::int64_t side = split_m_ ? m : n;
    // About 16 tiles in all keep 2 to 16 workers even; tiles under 192 wide spend their time in packing.
    const std::int64_t wanted = std::max<std::int64_t>(1, 16 / std::max<std::int64_t>(batch, 1));
    const std::int64_t width = std::max<std::int64_t>(192, ((side + wanted - 1) / wanted + 47) / 48 * 48);
    width_ = width;
    per_batch_ = std::max<std::int64_t>(1, (side + width - 1) / width);
    count_ = batch * per_batch_;
  }

  std::int64_t count() const { return count_; }

  Tile at(std::int64_t index) const {
    const std::int64_t start = (index % per_batch_) * width_;
    Tile tile{index / per_batch_, 0, 0, m_, n_};
    if (split_m_) {
      tile.m0 = start;
      tile.m = std::min(width_, m_ - start);
    } else {
      tile.n0 = start;
      tile.n = std::min(width_, n_ - start);
    }
    return tile;
  }

 private:
  std::int64_t m_, n_;
  bool split_m_;
  std::int64_t width_ = 0, per_batch_ = 0, count_ = 0;
};

}  // namespace dtj::device
