#include "engine/data/idx_images.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/data/fields.hpp"
#include "engine/data/idx.hpp"

namespace dtj::data {
namespace {

class IdxImages final : public Dataset {
 public:
  IdxImages(IdxFile images, IdxFile labels, const PixelTransform& transform, FieldSlots slots)
      : images_(std::move(images)), labels_(std::move(labels)), slots_(slots) {
    for (std::size_t value = 0; value < table_.size(); ++value) {
      const double scaled = static_cast<double>(value) * transform.scale;
      table_[value] = static_cast<float>((scaled - transform.mean) / transform.std);
    }
  }

  std::int64_t num_samples() const override { return images_.dims[0]; }

  Status read(SampleId id, gsl::span<std::byte* const> fields) const override {
    if (slots_.first) {
      const std::size_t pixels = static_cast<std::size_t>(images_.dims[1] * images_.dims[2]);
      const std::uint8_t* from = images_.values.data() + static_cast<std::size_t>(id.index) * pixels;
      auto* to = reinterpret_cast<float*>(fields[*slots_.first]);
      for (std::size_t i = 0; i < pixels; ++i) to[i] = table_[from[i]];
    }
    if (slots_.second) {
      const std::int32_t label = labels_.values[static_cast<std::size_t>(id.index)];
      std::memcpy(fields[*slots_.second], &label, sizeof label);
    }
    return {};
  }

 private:
  IdxFile images_;
  IdxFile labels_;
  FieldSlots slots_;
  std::array<float, 256> table_{};
};

Status check_contents(const DataSpec& spec, const IdxFile& images, const IdxFile& labels) {
  const SourceSpec& source = spec.source;
  if (images.dims[1] != source.height || images.dims[2] != source.width) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("`{}` holds images of {} x {} pixels, but the data source states {} x {}", images.path,
                            images.dims[1], images.dims[2], source.height, source.width));
  }
  if (images.dims[0] != labels.dims[0]) {
    return fail(ErrorCode::invalid_argument, fmt::format("`{}` holds {} images, but `{}` holds {} labels", images.path,
                                                         images.dims[0], labels.path, labels.dims[0]));
  }
  if (source.num_classes == 0) return {};
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (labels.values[i] >= source.num_classes) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("label {} at index {} of `{}` is not below the number of classes, {}", labels.values[i],
                              i, labels.path, source.num_classes));
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_idx_images(const DataSpec& spec) {
  const SourceSpec& source = spec.source;
  if (source.split != "train" && source.split != "test") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("split `{}` does not exist in IDX files: `train` or `test`", source.split));
  }
  DTJ_TRY_ASSIGN(const FieldSlots slots,
                 find_fields(spec, {"image", DType::f32, source.height * source.width}, {"label", DType::i32, 1}));
  const std::string prefix = source.split == "train" ? "train" : "t10k";
  DTJ_TRY_ASSIGN(IdxFile images, read_idx(source.path, prefix + "-images-idx3-ubyte", 3));
  DTJ_TRY_ASSIGN(IdxFile labels, read_idx(source.path, prefix + "-labels-idx1-ubyte", 1));
  DTJ_TRY(check_contents(spec, images, labels));
  return std::make_unique<IdxImages>(std::move(images), std::move(labels), spec.transform, slots);
}

}  // namespace dtj::data
