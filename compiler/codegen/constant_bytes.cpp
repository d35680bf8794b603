#include <cstring>

#include <gsl/assert>

#include "compiler/codegen/emit_program.hpp"

namespace dtj::codegen {
namespace {

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

void append_as(std::string& bytes, DType dtype, double number) {
  switch (dtype) {
    case DType::f32:
      return append(bytes, static_cast<float>(number));
    case DType::f64:
      return append(bytes, number);
    case DType::bf16:
      return append(bytes, f32_to_bf16(static_cast<float>(number)));
    case DType::f16:
      return append(bytes, f32_to_f16(static_cast<float>(number)));
    case DType::i32:
      return append(bytes, static_cast<std::int32_t>(number));
    case DType::i64:
      return append(bytes, static_cast<std::int64_t>(number));
    case DType::u8:
      return append(bytes, static_cast<std::uint8_t>(number));
    case DType::u16:
      return append(bytes, static_cast<std::uint16_t>(number));
    case DType::boolean:
      return append(bytes, static_cast<std::uint8_t>(number != 0));
  }
}

}  // namespace

std::string constant_bytes(const ir::Node& node, const ir::Type& type) {
  Expects(ir::category(node.op) == ir::OpCategory::leaf);
  const std::int64_t count = num_elements(type.shape);
  std::string bytes;
  if (node.op == ir::Op::constant) {
    for (std::int64_t i = 0; i < count; ++i) append_as(bytes, type.dtype, node.attrs.number);
    return bytes;
  }
  const auto axis = static_cast<std::size_t>(node.attrs.ints.at(0));
  const std::int64_t stride = contiguous_strides(type.shape).at(axis);
  for (std::int64_t i = 0; i < count; ++i)
    append_as(bytes, type.dtype, static_cast<double>(i / stride % type.shape[axis]));
  return bytes;
}

}  // namespace dtj::codegen
