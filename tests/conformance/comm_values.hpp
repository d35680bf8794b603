#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/base/dtype.hpp"
#include "engine/comm/communicator.hpp"

namespace dtj::test {

inline const std::vector<DType> summable_dtypes = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64};
inline const std::vector<DType> all_dtypes = {DType::f32, DType::f64, DType::bf16, DType::f16,    DType::i32,
                                              DType::i64, DType::u8,  DType::u16,  DType::boolean};

/// Nothing, one, less than a cache line, odd.
inline const std::vector<std::int64_t> counts = {0, 1, 7, 1001};
/// f32 elements of two and a bit staging chunks (1 MiB per rank).
inline constexpr std::int64_t large_count = 530007;

using Data = std::vector<std::byte>;

template <class T>
T load(const Data& data, std::int64_t i) {
  T value;
  std::memcpy(&value, data.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void store(Data& data, std::int64_t i, T value) {
  std::memcpy(data.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

/// What rank `rank` puts in: floats of many sizes, so that another order of additions gives other bits.
inline Data make_input(std::int64_t rank, std::int64_t count, DType dtype) {
  Data data(static_cast<std::size_t>(count) * size_of(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    auto mixed = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15ull +
                 static_cast<std::uint64_t>(rank) * 0xd1342543de82ef95ull;
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9ull;
    const auto bits = static_cast<std::uint32_t>(mixed >> 32);
    const float value = (static_cast<float>(bits >> 8) * 0x1p-23f - 1.0f) * static_cast<float>(1 << (bits % 16));
    switch (dtype) {
      case DType::f32:
        store(data, i, value);
        break;
      case DType::f64:
        store(data, i, static_cast<double>(value) / 3.0);
        break;
      case DType::bf16:
      case DType::f16:
        store(data, i, f32_to_bf16(value));
        break;
      case DType::i32:
        store(data, i, static_cast<std::int32_t>(bits));
        break;
      case DType::i64:
        store(data, i, static_cast<std::int64_t>(bits) << 20);
        break;
      case DType::u8:
      case DType::boolean:
        store(data, i, static_cast<std::uint8_t>(bits));
        break;
      case DType::u16:
        store(data, i, static_cast<std::uint16_t>(bits));
        break;
    }
  }
  return data;
}

/// The canonical tree, written from its definition: neighbours are added until one value is left.
template <class Sum>
Sum tree(std::vector<Sum>& values) {
  std::size_t num = values.size();
  while (num > 1) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < num; i += 2) {
      values[next++] = i + 1 < num ? static_cast<Sum>(values[i] + values[i + 1]) : values[i];
    }
    num = next;
  }
  return values[0];
}

/// The sum over ranks of make_input.
inline Data expected_sum(std::int64_t world_size, std::int64_t count, DType dtype) {
  std::vector<Data> inputs;
  for (std::int64_t rank = 0; rank < world_size; ++rank) inputs.push_back(make_input(rank, count, dtype));
  Data sum(inputs[0].size());
  const auto add_up = [&](auto zero, auto load_one, auto narrow) {
    std::vector<decltype(zero)> values(inputs.size());
    for (std::int64_t i = 0; i < count; ++i) {
      values.resize(inputs.size());
      for (std::size_t rank = 0; rank < inputs.size(); ++rank) values[rank] = load_one(inputs[rank], i);
      store(sum, i, narrow(tree(values)));
    }
  };
  const auto same = [](auto value) { return value; };
  switch (dtype) {
    case DType::f32:
      add_up(0.0f, load<float>, same);
      break;
    case DType::f64:
      add_up(0.0, load<double>, same);
      break;
    case DType::bf16:
      add_up(
          0.0f, [](const Data& d, std::int64_t i) { return bf16_to_f32(load<std::uint16_t>(d, i)); }, f32_to_bf16);
      break;
    case DType::i32:
      add_up(std::uint32_t{0}, load<std::uint32_t>, same);
      break;
    case DType::i64:
      add_up(std::uint64_t{0}, load<std::uint64_t>, same);
      break;
    default:
      break;
  }
  return sum;
}

/// Memory for a collective: given by the communicator (peers reach it) or plain.
class WorkMemory {
 public:
  WorkMemory(comm::Communicator& communicator, std::int64_t bytes, bool is_registered)
      : plain_(static_cast<std::size_t>(bytes)) {
    if (!is_registered) return;
    auto memory = communicator.allocate(Bytes{bytes});
    if (memory) registered_ = std::move(*memory);
  }
  std::byte* data() { return registered_.data() != nullptr ? registered_.data() : plain_.data(); }
  void fill(const Data& data) {
    if (!data.empty()) std::memcpy(this->data(), data.data(), data.size());
  }
  bool equals(const Data& data) { return data.empty() || std::memcmp(this->data(), data.data(), data.size()) == 0; }

 private:
  Data plain_;
  device::Memory registered_;
};

inline std::string describe(DType dtype, std::int64_t count, bool is_registered) {
  return std::string(to_string(dtype)) + " x " + std::to_string(count) + (is_registered ? " registered" : " plain");
}

}  // namespace dtj::test
