#include "engine/data/token_shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/data/fields.hpp"
#include "engine/data/files.hpp"
#include "engine/data/windows.hpp"

namespace dtj::data {
namespace {

// The two headers of llm.c; a file without one holds u16 tokens only, as nanoGPT writes it.
struct HeaderKind {
  std::int32_t magic;
  std::int32_t version;
  std::size_t token_bytes;
};
constexpr HeaderKind header_kinds[] = {{20240520, 1, 2}, {20240801, 7, 4}};
constexpr std::size_t header_bytes = 256 * sizeof(std::int32_t);

struct Shard {
  MappedFile file;
  std::size_t start = 0;  ///< bytes before the first token
  std::size_t token_bytes = 2;
  std::int64_t num_tokens = 0;
  std::int64_t first_sample = 0;

  /// Files are little-endian, as the hosts are.
  std::int64_t token(std::int64_t i) const {
    std::uint32_t value = 0;
    std::memcpy(&value, file.data() + start + static_cast<std::size_t>(i) * token_bytes, token_bytes);
    return value;
  }
};

Status read_header(Shard& shard) {
  const MappedFile& file = shard.file;
  std::int32_t words[3] = {};
  if (file.size() >= sizeof words) std::memcpy(words, file.data(), sizeof words);
  const auto* kind = std::find_if(std::begin(header_kinds), std::end(header_kinds),
                                  [&](const HeaderKind& known) { return known.magic == words[0]; });
  if (kind == std::end(header_kinds)) {
    if (file.size() % 2 != 0) {
      return fail(
          ErrorCode::data_loss,
          fmt::format("`{}` has {} bytes, an odd number: not a whole number of u16 tokens", file.path(), file.size()));
    }
    shard.num_tokens = static_cast<std::int64_t>(file.size() / 2);
    return {};
  }
  if (file.size() < header_bytes) {
    return fail(ErrorCode::data_loss, fmt::format("the header of `{}` is truncated: expected {} bytes, found {}",
                                                  file.path(), header_bytes, file.size()));
  }
  if (words[1] != kind->version || words[2] < 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the header of `{}` states version {} and {} tokens: only version {} (u{} tokens) is known",
                            file.path(), words[1], words[2], kind->version, 8 * kind->token_bytes));
  }
  const std::size_t expected = header_bytes + static_cast<std::size_t>(words[2]) * kind->token_bytes;
  if (file.size() != expected) {
    return fail(ErrorCode::data_loss, fmt::format("`{}` states {} tokens: expected {} bytes, found {}", file.path(),
                                                  words[2], expected, file.size()));
  }
  shard.start = header_bytes;
  shard.token_bytes = kind->token_bytes;
  shard.num_tokens = words[2];
  return {};
}

class TokenShards final : public Dataset {
 public:
  TokenShards(std::vector<Shard> shards, std::int64_t num_samples, const DataSpec& spec, FieldSlots slots)
      : shards_(std::move(shards)),
        num_samples_(num_samples),
        vocab_(spec.source.vocab),
        windows_(spec),
        slots_(slots) {}

  std::int64_t num_samples() const override { return num_samples_; }

  Status read(SampleId id, gsl::span<std::byte* const> fields) const override {
    const auto after = std::upper_bound(shards_.begin(), shards_.end(), id.index,
                                        [](std::int64_t index, const Shard& s) { return index < s.first_sample; });
    const Shard& shard = *std::prev(after);
    const std::int64_t start = (id.index - shard.first_sample) * windows_.seq() + windows_.offset(id.epoch);
    for (std::int64_t i = 0; i <= windows_.seq(); ++i) {
      const std::int64_t wide = shard.token(start + i);
      const std::int64_t limit = vocab_ != 0 ? vocab_ : std::int64_t{1} << 31;
      if (wide >= limit) {
        return fail(ErrorCode::invalid_argument,
                    fmt::format("token {} at position {} of `{}` is not below the vocabulary of {}", wide, start + i,
                                shard.file.path(), limit));
      }
      const auto token = static_cast<std::int32_t>(wide);
      if (slots_.first && i < windows_.seq()) write(fields[*slots_.first], i, token);
      if (slots_.second && i > 0) write(fields[*slots_.second], i - 1, token);
    }
    return {};
  }

 private:
  static void write(std::byte* field, std::int64_t i, std::int32_t token) {
    std::memcpy(field + static_cast<std::size_t>(i) * sizeof token, &token, sizeof token);
  }

  std::vector<Shard> shards_;  ///< each holds at least one sample
  std::int64_t num_samples_;
  std::int64_t vocab_;
  Windows windows_;
  FieldSlots slots_;
};

}  // namespace

Result<std::unique_ptr<Dataset>> open_token_shards(const DataSpec& spec) {
  const SourceSpec& source = spec.source;
  if (spec.seq < 1)
    return fail(ErrorCode::invalid_argument, fmt::format("samples of {} tokens cannot be read", spec.seq));
  DTJ_TRY_ASSIGN(const FieldSlots slots,
                 find_fields(spec, {"tokens", DType::i32, spec.seq}, {"targets", DType::i32, spec.seq}));
  DTJ_TRY_ASSIGN(const std::vector<std::string> paths, list_files(source.path, source.pattern));
  const Windows windows(spec);
  std::vector<Shard> shards;
  std::int64_t num_samples = 0;
  std::int64_t longest = 0;
  for (const std::string& path : paths) {
    DTJ_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
    Shard shard{.file = std::move(file), .first_sample = num_samples};
    DTJ_TRY(read_header(shard));
    longest = std::max(longest, shard.num_tokens);
    const std::int64_t here = windows.num_windows(shard.num_tokens);
    if (here == 0) continue;
    num_samples += here;
    shards.push_back(std::move(shard));
  }
  if (num_samples == 0) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the files that match `{}` in `{}` are too short: the longest has {} tokens, and samples of {} "
                    "tokens need {}",
                    source.pattern, source.path, longest, spec.seq, windows.min_tokens()));
  }
  return std::make_unique<TokenShards>(std::move(shards), num_samples, spec, slots);
}

}  // namespace dtj::data
