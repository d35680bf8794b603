#pragma once

#include <string>
#include <vector>

#include "engine/data/data.hpp"
#include "tests/support/temp_dir.hpp"

namespace dtj::test {

/// Images of the size that write_idx makes by default: 8 x 8, 4 classes.
inline DataSpec image_spec(const std::string& folder) {
  DataSpec spec;
  spec.name = "train";
  spec.source.kind = SourceKind::idx_images;
  spec.source.path = folder;
  spec.source.num_classes = 4;
  spec.source.height = 8;
  spec.source.width = 8;
  spec.transform = {1.0 / 255.0, 0.25, 0.5};
  spec.fields = {{"image", DType::f32, {1, 8, 8}, false}, {"label", DType::i32, {}, true}};
  return spec;
}

inline DataSpec token_spec(SourceKind kind, const std::string& path, std::int64_t seq) {
  DataSpec spec;
  spec.name = "train";
  spec.source.kind = kind;
  spec.source.path = path;
  spec.source.vocab = 128;
  spec.source.train_fraction = 1.0;
  spec.seq = seq;
  spec.fields = {{"tokens", DType::i32, {seq}, false}, {"targets", DType::i32, {seq}, true}};
  return spec;
}

struct TokenSample {
  std::vector<std::int32_t> tokens, targets;
};

inline Result<TokenSample> read_tokens(const data::Dataset& dataset, std::int64_t seq, data::SampleId id) {
  TokenSample sample{std::vector<std::int32_t>(std::size_t(seq)), std::vector<std::int32_t>(std::size_t(seq))};
  std::vector<std::byte*> fields{reinterpret_cast<std::byte*>(sample.tokens.data()),
                                 reinterpret_cast<std::byte*>(sample.targets.data())};
  DTJ_TRY(dataset.read(id, fields));
  return sample;
}

/// "" when it opens.
inline std::string open_error(const DataSpec& spec) {
  const auto dataset = data::open_dataset(spec);
  return dataset ? "" : std::string(to_string(dataset.error().code)) + ": " + dataset.error().to_string();
}

}  // namespace dtj::test
