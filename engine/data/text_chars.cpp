#include "engine/data/text_chars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/data/fields.hpp"
#include "engine/data/files.hpp"
#include "engine/data/windows.hpp"

namespace dtj::data {
namespace {

class TextChars final : public Dataset {
 public:
  TextChars(std::vector<std::int32_t> tokens, Windows windows, FieldSlots slots)
      : tokens_(std::move(tokens)), windows_(windows), slots_(slots) {}

  std::int64_t num_samples() const override { return windows_.num_windows(static_cast<std::int64_t>(tokens_.size())); }

  Status read(SampleId id, gsl::span<std::byte* const> fields) const override {
    const std::int64_t start = id.index * windows_.seq() + windows_.offset(id.epoch);
    const std::size_t bytes = static_cast<std::size_t>(windows_.seq()) * sizeof(std::int32_t);
    if (slots_.first) std::memcpy(fields[*slots_.first], tokens_.data() + start, bytes);
    if (slots_.second) std::memcpy(fields[*slots_.second], tokens_.data() + start + 1, bytes);
    return {};
  }

 private:
  std::vector<std::int32_t> tokens_;
  Windows windows_;
  FieldSlots slots_;
};

struct CodePoint {
  std::uint32_t value;
  std::size_t size;  ///< bytes
};

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
std::optional<CodePoint> decode_one(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return CodePoint{lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return std::nullopt;
  std::uint32_t value = lead & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[size] || value > 0x10FFFF || is_surrogate) return std::nullopt;
  return CodePoint{value, size};
}

std::string where(std::string_view text, const std::string& path, std::size_t offset) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  return fmt::format("{}:{}: byte {}", path, line, offset);
}

Result<std::vector<std::int32_t>> read_tokens(const SourceSpec& source) {
  std::vector<std::string> paths{source.path};
  if (is_folder(source.path)) {
    DTJ_TRY_ASSIGN(paths, list_files(source.path, "*"));
  }
  std::vector<std::int32_t> tokens;
  for (const std::string& path : paths) {
    DTJ_TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    DTJ_TRY(decode_utf8(text, path, source.vocab, tokens));
  }
  return tokens;
}

}  // namespace

Status decode_utf8(std::string_view text, const std::string& path, std::int64_t vocab, std::vector<std::int32_t>& out) {
  out.reserve(out.size() + text.size());
  std::size_t offset = 0;
  while (offset < text.size()) {
    const auto point = decode_one(text.substr(offset));
    if (!point) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}, {:#04x}, is not valid UTF-8: convert the file to UTF-8 or leave it out",
                              where(text, path, offset), static_cast<std::uint8_t>(text[offset])));
    }
    if (vocab != 0 && point->value >= vocab) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("{}: the character `{}` (U+{:04X} = {}) is not below the vocabulary of {}: raise `vocab` to at "
                      "least {}, or replace the character",
                      where(text, path, offset), text.substr(offset, point->size), point->value, point->value, vocab,
                      point->value + 1));
    }
    out.push_back(static_cast<std::int32_t>(point->value));
    offset += point->size;
  }
  return {};
}

Result<std::unique_ptr<Dataset>> open_text_chars(const DataSpec& spec) {
  const SourceSpec& source = spec.source;
  if (source.split != "train" && source.split != "valid") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("split `{}` does not exist in a text: `train` or `valid`", source.split));
  }
  if (spec.seq < 1)
    return fail(ErrorCode::invalid_argument, fmt::format("samples of {} tokens cannot be read", spec.seq));
  DTJ_TRY_ASSIGN(const FieldSlots slots,
                 find_fields(spec, {"tokens", DType::i32, spec.seq}, {"targets", DType::i32, spec.seq}));
  DTJ_TRY_ASSIGN(std::vector<std::int32_t> tokens, read_tokens(source));
  const auto cut = static_cast<std::ptrdiff_t>(
      std::floor(static_cast<double>(tokens.size()) * std::clamp(source.train_fraction, 0.0, 1.0)));
  if (source.split == "train") {
    tokens.erase(tokens.begin() + cut, tokens.end());
  } else {
    tokens.erase(tokens.begin(), tokens.begin() + cut);
  }
  tokens.shrink_to_fit();
  const Windows windows(spec);
  if (windows.num_windows(static_cast<std::int64_t>(tokens.size())) == 0) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the text of `{}` is too short: its split `{}` has {} characters, and samples of {} tokens need {}",
                    source.path, source.split, tokens.size(), spec.seq, windows.min_tokens()));
  }
  return std::make_unique<TextChars>(std::move(tokens), windows, slots);
}

}  // namespace dtj::data
