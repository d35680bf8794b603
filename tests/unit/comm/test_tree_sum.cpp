#include <cstring>
#include <limits>
#include <vector>

#include "engine/comm/group/tree_sum.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using comm::group::tree_sum;

namespace {

/// One value per source, `count` times over.
template <class T>
std::vector<T> sum(const std::vector<T>& values, std::int64_t count, DType dtype) {
  std::vector<std::vector<T>> sources;
  std::vector<const std::byte*> pointers;
  for (const T value : values) sources.emplace_back(static_cast<std::size_t>(count), value);
  for (const auto& source : sources) pointers.push_back(reinterpret_cast<const std::byte*>(source.data()));
  std::vector<T> out(static_cast<std::size_t>(count));
  std::vector<std::byte*> outs{reinterpret_cast<std::byte*>(out.data())};
  tree_sum(pointers, outs, count, dtype);
  return out;
}

}  // namespace

TEST_CASE("tree_sum: adds neighbours first", "[unit][comm]") {
  const float big = 0x1p24f;
  // From left to right: ((big + 1) + 1) + ... = big. In the tree (big + 1) + (1 + 1) = big + 2.
  CHECK(sum<float>({big, 1, 1, 1}, 1, DType::f32)[0] == big + 2);
  // ((big + 1) + (1 + 1)) + 1 with five, where the last tie goes up to the even value; ((big + 1) + (1 + 1)) + (1 + 1)
  // with six.
  CHECK(sum<float>({big, 1, 1, 1, 1}, 1, DType::f32)[0] == big + 4);
  CHECK(sum<float>({big, 1, 1, 1, 1, 1}, 1, DType::f32)[0] == big + 4);
  CHECK(sum<float>({1, 1, big}, 1, DType::f32)[0] == big + 2);
}

TEST_CASE("tree_sum: any number of elements and sources", "[unit][comm]") {
  for (const std::int64_t count : {0, 1, 255, 256, 257, 1000}) {
    for (std::size_t num = 1; num <= 17; ++num) {
      const std::vector<double> values(num, 0.5);
      CHECK(sum(values, count, DType::f64) ==
            std::vector<double>(static_cast<std::size_t>(count), 0.5 * static_cast<double>(num)));
    }
  }
}

TEST_CASE("tree_sum: bf16 is rounded once", "[unit][comm]") {
  const std::uint16_t one = f32_to_bf16(1.0f), small = f32_to_bf16(0x1p-8f);
  // 1 + 2^-8 alone rounds back to 1; the f32 partial sums keep both halves.
  CHECK(sum<std::uint16_t>({one, small, small, 0}, 3, DType::bf16)[2] == f32_to_bf16(1.0f + 0x1p-7f));
}

TEST_CASE("tree_sum: integers wrap", "[unit][comm]") {
  const auto most = std::numeric_limits<std::int32_t>::max();
  CHECK(sum<std::int32_t>({most, 1}, 1, DType::i32)[0] == std::numeric_limits<std::int32_t>::min());
}

TEST_CASE("tree_sum: results may go over the sources", "[unit][comm]") {
  std::vector<float> a(600, 1), b(600, 2);
  std::vector<std::byte*> outs{reinterpret_cast<std::byte*>(a.data()), reinterpret_cast<std::byte*>(b.data())};
  const std::vector<const std::byte*> sources(outs.begin(), outs.end());
  tree_sum(sources, outs, 600, DType::f32);
  CHECK(a == std::vector<float>(600, 3));
  CHECK(b == a);
}
