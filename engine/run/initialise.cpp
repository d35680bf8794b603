#include "engine/run/initialise.hpp"

#include <cstring>

#include "engine/base/hash.hpp"
#include "engine/base/philox.hpp"

namespace dtj::run {
namespace {

template <class T>
void put(std::byte* data, std::int64_t i, T value) {
  std::memcpy(data + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
}

void store(DType dtype, std::byte* data, std::int64_t i, double value) {
  switch (dtype) {
    case DType::f32:
      return put(data, i, static_cast<float>(value));
    case DType::f64:
      return put(data, i, value);
    case DType::bf16:
      return put(data, i, f32_to_bf16(static_cast<float>(value)));
    case DType::f16:
      return put(data, i, f32_to_f16(static_cast<float>(value)));
    case DType::i32:
      return put(data, i, static_cast<std::int32_t>(value));
    case DType::i64:
      return put(data, i, static_cast<std::int64_t>(value));
    case DType::u8:
      return put(data, i, static_cast<std::uint8_t>(value));
    case DType::u16:
      return put(data, i, static_cast<std::uint16_t>(value));
    case DType::boolean:
      return put(data, i, static_cast<std::uint8_t>(value != 0));
  }
}

}  // namespace

void initialise(const InitSpec& init, std::uint64_t seed, std::string_view name, DType dtype, std::byte* data,
                std::int64_t count) {
  const PhiloxStream random(seed, hash64(name));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto position = static_cast<std::uint64_t>(i);
    double value = init.a;
    switch (init.kind) {
      case InitKind::constant:
        break;
      case InitKind::uniform:
        value = init.a + (init.b - init.a) * random.uniform(position);
        break;
      case InitKind::normal:
        value = init.a + init.b * random.normal(position);
        break;
    }
    store(dtype, data, i, value);
  }
}

}  // namespace dtj::run
