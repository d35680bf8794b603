#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tests/support/temp_dir.hpp"

// A small image data set in the IDX format that a model can learn: each class lights up its own band of rows.

namespace dtj::test {

inline std::string big_endian(std::uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

struct IdxOptions {
  std::uint32_t num_samples = 256;
  std::uint32_t height = 8;
  std::uint32_t width = 8;
  std::uint32_t num_classes = 4;
  int bad_label_at = -1;  ///< this sample gets label num_classes
};

/// `prefix`: "train" or "t10k".
inline void write_idx(const TempDir& dir, const std::string& prefix, const IdxOptions& options) {
  std::mt19937 random(prefix == "train" ? 1 : 2);
  std::string images = big_endian(0x803) + big_endian(options.num_samples) + big_endian(options.height) + big_endian(options.width);
  std::string labels = big_endian(0x801) + big_endian(options.num_samples);
  for (std::uint32_t i = 0; i < options.num_samples; ++i) {
    const std::uint32_t label = random() % options.num_classes;
    labels += char(int(i) == options.bad_label_at ? options.num_classes : label);
    for (std::uint32_t y = 0; y < options.height; ++y) {
      for (std::uint32_t x = 0; x < options.width; ++x) {
        const bool lit = y * options.num_classes / options.height == label;
        images += char(std::uint8_t((lit ? 150 : 20) + random() % 80));
      }
    }
  }
  dir.write(prefix + "-images-idx3-ubyte", images);
  dir.write(prefix + "-labels-idx1-ubyte", labels);
}

}  // namespace dtj::test
