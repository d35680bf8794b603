#include "engine/checkpoint/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "engine/checkpoint/file.hpp"

namespace dtj::checkpoint {
namespace {

using nlohmann::json;

constexpr std::int64_t max_header_size = 100'000'000;  // the limit of the Python library

std::string_view safetensors_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::f64:
      return "F64";
    case DType::bf16:
      return "BF16";
    case DType::f16:
      return "F16";
    case DType::i32:
      return "I32";
    case DType::i64:
      return "I64";
    case DType::u8:
      return "U8";
    case DType::u16:
      return "U16";
    case DType::boolean:
      return "BOOL";
  }
  return "";
}

std::optional<DType> parse_safetensors_name(std::string_view name) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64, DType::u8,
                            DType::u16, DType::boolean}) {
    if (safetensors_name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

// Product of the extents and the size of an element, if it is a size at all.
std::optional<std::int64_t> checked_size(const Shape& shape, DType dtype) {
  auto size = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size)) return std::nullopt;
  }
  return size;
}

// Throws json::exception; nullopt for values that make no sense.
std::optional<SafetensorsEntry> parse_entry(const json& value, std::int64_t data_start) {
  SafetensorsEntry entry;
  const auto dtype = parse_safetensors_name(value.at("dtype").get<std::string>());
  entry.shape = value.at("shape").get<Shape>();
  const auto offsets = value.at("data_offsets").get<std::array<std::int64_t, 2>>();
  if (!dtype || offsets[0] < 0 || offsets[1] < offsets[0]) return std::nullopt;
  entry.dtype = *dtype;
  entry.size = offsets[1] - offsets[0];
  if (checked_size(entry.shape, entry.dtype) != entry.size) return std::nullopt;
  if (__builtin_add_overflow(offsets[0], data_start, &entry.offset)) return std::nullopt;
  return entry;
}

// Every byte after the header belongs to exactly one tensor.
bool covers_data(const SafetensorsHeader& header, std::int64_t data_start) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (const auto& [name, entry] : header.tensors) ranges.emplace_back(entry.offset, entry.size);
  std::sort(ranges.begin(), ranges.end());
  std::int64_t end = data_start;
  for (const auto& [offset, size] : ranges) {
    if (offset != end || __builtin_add_overflow(end, size, &end)) return false;
  }
  return end == header.file_size;
}

}  // namespace

Result<Bytes> write_safetensors(const std::string& path, gsl::span<const TensorView> tensors) {
  json header = json::object();
  header["__metadata__"] = {{"format", "pt"}};  // what the Python library's own writers state
  std::size_t offset = 0;
  for (const TensorView& tensor : tensors) {
    header[tensor.name] = {{"dtype", safetensors_name(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.size()}}};
    offset += tensor.size();
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
  const std::uint64_t header_size = text.size();

  DTJ_TRY_ASSIGN(File file, File::create(path));
  DTJ_TRY(file.write(&header_size, sizeof header_size));
  DTJ_TRY(file.write(text.data(), text.size()));
  for (const TensorView& tensor : tensors) {
    DTJ_TRY(file.write(tensor.data, tensor.size()));
  }
  DTJ_TRY(file.sync_and_close());
  return Bytes{static_cast<std::int64_t>(sizeof header_size + text.size() + offset)};
}

Result<SafetensorsHeader> read_safetensors_header(const std::string& path) {
  DTJ_TRY_ASSIGN(const File file, File::open(path));
  SafetensorsHeader header;
  DTJ_TRY_ASSIGN(header.file_size, file.size());
  std::uint64_t header_size = 0;
  DTJ_TRY(file.read_at(0, &header_size, sizeof header_size));
  if (header_size > std::uint64_t(max_header_size)) {
    return fail(ErrorCode::data_loss, fmt::format("`{}` states a header of {} bytes", path, header_size));
  }
  std::string text(header_size, '\0');
  DTJ_TRY(file.read_at(sizeof header_size, text.data(), text.size()));
  const auto data_start = static_cast<std::int64_t>(sizeof header_size + header_size);
  try {
    const json root = json::parse(text);
    for (const auto& [name, value] : root.items()) {
      if (name == "__metadata__") continue;
      const auto entry = parse_entry(value, data_start);
      if (!entry)
        return fail(ErrorCode::data_loss, fmt::format("the entry of tensor `{}` in `{}` makes no sense", name, path));
      header.tensors.emplace(name, *entry);
    }
  } catch (const json::exception& error) {
    return fail(ErrorCode::data_loss, fmt::format("the header of `{}` is damaged: {}", path, error.what()));
  }
  if (!covers_data(header, data_start)) {
    return fail(ErrorCode::data_loss,
                fmt::format("`{}` has {} bytes, which does not agree with its header: truncated or damaged", path,
                            header.file_size));
  }
  return header;
}

}  // namespace dtj::checkpoint
