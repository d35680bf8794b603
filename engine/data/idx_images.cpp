#include "engine/data/idx_images.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/base/hash.hpp"
#include "engine/base/philox.hpp"
#include "engine/data/fields.hpp"
#include "engine/data/idx.hpp"

namespace dtj::data {
namespace {

class IdxImages final : public Dataset {
 public:
  IdxImages(IdxFile images, IdxFile labels, const PixelTransform& transform, FieldSlots slots)
      : images_(std::move(images)), labels_(std::move(labels)), transform_(transform), slots_(slots) {
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
      const Place place = place_of(id);
      if (place.is_plain()) {
        for (std::size_t i = 0; i < pixels; ++i) to[i] = table_[from[i]];
      } else {
        copy_moved(from, place, to);
      }
    }
    if (slots_.second) {
      const std::int32_t label = labels_.values[static_cast<std::size_t>(id.index)];
      std::memcpy(fields[*slots_.second], &label, sizeof label);
    }
    return {};
  }

 private:
  /// Where an image is cut out, and whether it is mirrored after that.
  struct Place {
    std::int64_t down = 0, right = 0;
    bool is_mirrored = false;
    bool is_plain() const { return down == 0 && right == 0 && !is_mirrored; }
  };

  Place place_of(SampleId id) const {
    Place place;
    const std::int64_t pad = transform_.crop_pad;
    if (pad == 0 && transform_.flip == 0) return place;
    const PhiloxStream random(transform_.seed, hash64("augmentation"));
    const auto number = static_cast<std::uint64_t>(id.epoch * num_samples() + id.index);
    const auto shift = [&](std::uint64_t draw) {
      return static_cast<std::int64_t>(random.bits(4 * number + draw) % static_cast<std::uint64_t>(2 * pad + 1)) - pad;
    };
    place.down = shift(0);
    place.right = shift(1);
    place.is_mirrored = random.uniform(4 * number + 2) < transform_.flip;
    return place;
  }

  void copy_moved(const std::uint8_t* from, const Place& place, float* to) const {
    const std::int64_t height = images_.dims[1], width = images_.dims[2];
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t row = y + place.down, column = (place.is_mirrored ? width - 1 - x : x) + place.right;
        const bool is_inside = row >= 0 && row < height && column >= 0 && column < width;
        to[y * width + x] = table_[is_inside ? from[row * width + column] : 0];
      }
  }

  IdxFile images_;
  IdxFile labels_;
  PixelTransform transform_;
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
