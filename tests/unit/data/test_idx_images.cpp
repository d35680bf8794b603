#include <zlib.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/contains.hpp"
#include "tests/support/idx_files.hpp"
#include "tests/unit/data/data_specs.hpp"

namespace {

using namespace dtj;
using namespace dtj::test;

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void compress(const TempDir& dir, const std::string& name, const std::string& as) {
  const std::string text = read_file(dir.file(name));
  const gzFile file = gzopen(dir.file(as).c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), unsigned(text.size())) == int(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
  if (name != as) std::filesystem::remove(dir.file(name));
}

const std::string images_name = "train-images-idx3-ubyte";
const std::string labels_name = "train-labels-idx1-ubyte";

struct Files {
  explicit Files(IdxOptions options = {}) { write_idx(dir, "train", options); }
  std::string error() const { return open_error(image_spec(dir.path().string())); }
  void cut(const std::string& name, std::size_t size) const {
    dir.write(name, read_file(dir.file(name)).substr(0, size));
  }
  TempDir dir;
};

void require_sample(const data::Dataset& dataset, const std::string& images, const std::string& labels,
                    std::int64_t index) {
  std::vector<float> pixels(64);
  std::int32_t label = -7;
  std::vector<std::byte*> fields{reinterpret_cast<std::byte*>(pixels.data()), reinterpret_cast<std::byte*>(&label)};
  REQUIRE(dataset.read({0, index}, fields));
  CHECK(label == std::uint8_t(labels[8 + std::size_t(index)]));
  for (std::size_t i = 0; i < 64; ++i) {
    const double raw = std::uint8_t(images[16 + std::size_t(index) * 64 + i]);
    CHECK(pixels[i] == float((raw / 255.0 - 0.25) / 0.5));
  }
}

}  // namespace

TEST_CASE("idx_images: reads raw files and applies the pixel transform", "[unit][data]") {
  const Files files;
  const auto dataset = data::open_dataset(image_spec(files.dir.path().string()));
  REQUIRE(dataset);
  CHECK((*dataset)->num_samples() == 256);
  const std::string images = read_file(files.dir.file(images_name)), labels = read_file(files.dir.file(labels_name));
  require_sample(**dataset, images, labels, 0);
  require_sample(**dataset, images, labels, 255);
}

TEST_CASE("idx_images: tells compressed files by their content", "[unit][data]") {
  const Files files;
  const std::string images = read_file(files.dir.file(images_name)), labels = read_file(files.dir.file(labels_name));
  compress(files.dir, images_name, images_name + ".gz");
  compress(files.dir, labels_name, labels_name);  // compressed, but without the ending
  const auto dataset = data::open_dataset(image_spec(files.dir.path().string()));
  REQUIRE(dataset);
  require_sample(**dataset, images, labels, 17);
}

TEST_CASE("idx_images: a field that the job leaves out is not written", "[unit][data]") {
  const Files files;
  DataSpec spec = image_spec(files.dir.path().string());
  spec.fields.erase(spec.fields.begin());
  const auto dataset = data::open_dataset(spec);
  REQUIRE(dataset);
  std::int32_t label = -7;
  std::vector<std::byte*> fields{reinterpret_cast<std::byte*>(&label)};
  REQUIRE((*dataset)->read({0, 3}, fields));
  CHECK(label == read_file(files.dir.file(labels_name))[8 + 3]);
}

TEST_CASE("idx_images: a missing file is named in both spellings", "[unit][data]") {
  const Files files;
  std::filesystem::remove(files.dir.file(images_name));
  CHECK_THAT(files.error(), contains("not_found") && contains("`train-images-idx3-ubyte`") &&
                                contains("`train-images-idx3-ubyte.gz`") && contains(files.dir.path().string()));
  CHECK_THAT(open_error(image_spec("/no/such/folder")), contains("which does not exist"));
}

TEST_CASE("idx_images: another file format is refused", "[unit][data]") {
  const Files files;
  files.dir.write(images_name, "this is a text, not a set of images");
  CHECK_THAT(files.error(), contains("invalid_argument") && contains("not an IDX file") && contains("0x74686973"));
  // The labels file has the right format and the wrong number of dims.
  files.dir.write(images_name, read_file(files.dir.file(labels_name)));
  CHECK_THAT(files.error(), contains("0x00000801, not 0x00000803"));
}

TEST_CASE("idx_images: a truncated file states what is missing", "[unit][data]") {
  const Files files;
  files.cut(images_name, 16 + 256 * 64 - 5);
  CHECK_THAT(files.error(), contains("data_loss") && contains("expected 16400 bytes, found 16395"));
  files.cut(images_name, 7);
  CHECK_THAT(files.error(), contains("expected 16 bytes, found 7"));
  files.cut(images_name, 0);
  CHECK_THAT(files.error(), contains("expected 16 bytes, found 0"));
}

TEST_CASE("idx_images: a truncated or damaged compressed file is found", "[unit][data]") {
  const Files files;
  compress(files.dir, images_name, images_name);
  const std::string whole = read_file(files.dir.file(images_name));
  files.cut(images_name, whole.size() / 2);
  CHECK_THAT(files.error(), contains("data_loss") && contains("expected 16400 bytes, found"));
  std::string damaged = whole;
  damaged[whole.size() - 6] = char(damaged[whole.size() - 6] ^ 1);  // in the checksum
  files.dir.write(images_name, damaged);
  CHECK_THAT(files.error(), contains("data_loss") && contains("damaged"));
}

TEST_CASE("idx_images: bytes after the end and impossible sizes are refused", "[unit][data]") {
  const Files files;
  files.dir.write(images_name, read_file(files.dir.file(images_name)) + "x");
  CHECK_THAT(files.error(), contains("more than the 16400 bytes"));
  files.dir.write(images_name,
                  big_endian(0x803) + big_endian(0xFFFFFFFF) + big_endian(0xFFFFFFFF) + big_endian(0xFFFFFFFF));
  CHECK_THAT(files.error(), contains("impossible size"));
  files.dir.write(images_name, big_endian(0x803) + big_endian(0xFFFFFFFF) + big_endian(8) + big_endian(8));
  CHECK_THAT(files.error(), contains("truncated"));
}

TEST_CASE("idx_images: images and labels must agree with each other and with the job", "[unit][data]") {
  const Files files;
  TempDir other;
  write_idx(other, "train", {.num_samples = 100});
  std::filesystem::copy_file(other.file(labels_name), files.dir.file(labels_name),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_THAT(files.error(), contains("holds 256 images") && contains("100 labels"));

  DataSpec spec = image_spec(other.path().string());
  spec.source.height = 28;
  spec.fields[0].sample_shape = {1, 28, 8};
  CHECK_THAT(open_error(spec), contains("8 x 8") && contains("28 x 8"));
  spec = image_spec(other.path().string());
  spec.fields[0].sample_shape = {1, 9, 8};
  CHECK_THAT(open_error(spec), contains("field `image` is stated as f32[1, 9, 8]"));
  spec = image_spec(other.path().string());
  spec.fields[1].name = "target";
  CHECK_THAT(open_error(spec), contains("no field `target`") && contains("`label`"));
  spec = image_spec(other.path().string());
  spec.source.split = "valid";
  CHECK_THAT(open_error(spec), contains("split `valid`"));
}

TEST_CASE("idx_images: a label out of range is named with its file and index", "[unit][data]") {
  const Files files({.num_samples = 64, .bad_label_at = 33});
  CHECK_THAT(files.error(), contains("label 4 at index 33 of `") && contains(labels_name) &&
                                contains("not below the number of classes, 4"));
}

TEST_CASE("idx_images: crops and mirrors are a function of seed, epoch and sample", "[unit][data]") {
  const Files files;
  DataSpec spec = image_spec(files.dir.path().string());
  spec.transform.crop_pad = 2;
  spec.transform.flip = 0.5;
  const std::string images = read_file(files.dir.file(images_name));
  const auto read = [&](const DataSpec& data, std::int64_t epoch, std::int64_t index) {
    const auto dataset = data::open_dataset(data);
    REQUIRE(dataset);
    std::vector<float> pixels(64);
    std::int32_t label = 0;
    REQUIRE((*dataset)->read({epoch, index}, std::vector<std::byte*>{reinterpret_cast<std::byte*>(pixels.data()),
                                                                     reinterpret_cast<std::byte*>(&label)}));
    return pixels;
  };
  // Every place and both sides, as the original gives them.
  const auto candidates = [&](std::int64_t index) {
    std::set<std::vector<float>> all;
    for (int down = -2; down <= 2; ++down)
      for (int right = -2; right <= 2; ++right)
        for (const bool is_mirrored : {false, true}) {
          std::vector<float> pixels;
          for (int y = 0; y < 8; ++y)
            for (int x = 0; x < 8; ++x) {
              const int row = y + down, column = (is_mirrored ? 7 - x : x) + right;
              const bool is_inside = row >= 0 && row < 8 && column >= 0 && column < 8;
              const auto at = 16 + std::size_t(index) * 64 + std::size_t(is_inside ? row * 8 + column : 0);
              const double raw = is_inside ? std::uint8_t(images[at]) : 0;
              pixels.push_back(float((raw / 255.0 - 0.25) / 0.5));
            }
          all.insert(pixels);
        }
    return all;
  };
  std::set<std::vector<float>> seen;
  const auto possible = candidates(3);
  for (std::int64_t epoch = 0; epoch < 60; ++epoch) {
    const auto pixels = read(spec, epoch, 3);
    CHECK(possible.count(pixels) == 1);
    CHECK(read(spec, epoch, 3) == pixels);
    seen.insert(pixels);
  }
  CHECK(seen.size() > possible.size() / 3);
  DataSpec other = spec;
  other.transform.seed = 77;
  int num_equal = 0;
  for (std::int64_t epoch = 0; epoch < 60; ++epoch) num_equal += read(spec, epoch, 3) == read(other, epoch, 3) ? 1 : 0;
  CHECK(num_equal < 10);
}
