#include "engine/comm/group/tree_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace dtj::comm::group {
namespace {

/// Elements summed at a time: the partial sums of all tree levels stay in the first cache level.
constexpr std::int64_t block = 256;
constexpr std::size_t max_depth = 16;  // 2^16 ranks

template <class T>
T load(const T* from) {
  return *from;
}

struct Bf16 {
  std::uint16_t bits;
};
float load(const Bf16* from) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(from->bits) << 16);
}

template <class T>
void store(T value, T* to) {
  *to = value;
}
void store(float value, Bf16* to) {
  to->bits = f32_to_bf16(value);
}

// Signed overflow is undefined: integers are summed as unsigned.
template <class Stored, class Sum>
class TreeSum {
 public:
  explicit TreeSum(gsl::span<const std::byte* const> sources) : sources_(sources) {}

  void run(gsl::span<std::byte* const> outs, std::int64_t count) {
    for (std::int64_t start = 0; start < count; start += block) {
      const std::int64_t size = std::min(block, count - start);
      add_range(0, sources_.size(), start, size, 0);
      std::array<Stored, block> result;
      for (std::int64_t i = 0; i < size; ++i)
        store(partial_[0][static_cast<std::size_t>(i)], &result[static_cast<std::size_t>(i)]);
      for (std::byte* out : outs) {
        std::memcpy(out + start * static_cast<std::int64_t>(sizeof(Stored)), result.data(),
                    static_cast<std::size_t>(size) * sizeof(Stored));
      }
    }
  }

 private:
  const Stored* source(std::size_t index, std::int64_t start) const {
    return reinterpret_cast<const Stored*>(sources_[index]) + start;
  }

  /// Sums sources [first, first + num) into partial_[depth].
  void add_range(std::size_t first, std::size_t num, std::int64_t start, std::int64_t size, std::size_t depth) {
    Sum* out = partial_[depth].data();
    if (num == 1) {
      const Stored* only = source(first, start);
      for (std::int64_t i = 0; i < size; ++i) out[i] = load(only + i);
      return;
    }
    if (num == 2) {
      const Stored* left = source(first, start);
      const Stored* right = source(first + 1, start);
      for (std::int64_t i = 0; i < size; ++i) out[i] = load(left + i) + load(right + i);
      return;
    }
    const std::size_t half = std::bit_floor(num - 1);
    add_range(first, half, start, size, depth);
    add_range(first + half, num - half, start, size, depth + 1);
    const Sum* other = partial_[depth + 1].data();
    for (std::int64_t i = 0; i < size; ++i) out[i] = out[i] + other[i];
  }

  gsl::span<const std::byte* const> sources_;
  std::array<std::array<Sum, block>, max_depth> partial_;
};

}  // namespace

bool is_summable(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16 || dtype == DType::i32 ||
         dtype == DType::i64;
}

void tree_sum(gsl::span<const std::byte* const> sources, gsl::span<std::byte* const> outs, std::int64_t count,
              DType dtype) {
  switch (dtype) {
    case DType::f32:
      return TreeSum<float, float>(sources).run(outs, count);
    case DType::f64:
      return TreeSum<double, double>(sources).run(outs, count);
    case DType::bf16:
      return TreeSum<Bf16, float>(sources).run(outs, count);
    case DType::i32:
      return TreeSum<std::uint32_t, std::uint32_t>(sources).run(outs, count);
    case DType::i64:
      return TreeSum<std::uint64_t, std::uint64_t>(sources).run(outs, count);
    case DType::f16:
    case DType::u8:
    case DType::u16:
    case DType::boolean:
      break;
  }
  Expects(is_summable(dtype));
}

}  // namespace dtj::comm::group
