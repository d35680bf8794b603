#include "engine/checkpoint/safetensors.hpp"

#include "tests/support/safetensors_file.hpp"
#include "tests/unit/checkpoint/checkpoint_fixture.hpp"

using namespace dtj;
using namespace dtj::test;

TEST_CASE("safetensors: another reader finds every tensor", "[unit][checkpoint]") {
  const TempDir dir;
  Model model(3);
  REQUIRE(checkpoint::write_safetensors(dir.file("a.safetensors"), model.views()));
  const auto tensors = read_safetensors(dir.file("a.safetensors"));
  REQUIRE(tensors.size() == 4);
  CHECK(tensors.at("fc.weight").dtype == "F32");
  CHECK(tensors.at("fc.weight").shape == Shape{2, 3});
  CHECK(tensors.at("fc.weight").as<float>() == model.weight);
  CHECK(tensors.at("fc.half").dtype == "BF16");
  CHECK(tensors.at("fc.half").as<std::uint16_t>() == model.half);
  CHECK(tensors.at("adamw.m/fc.weight").as<double>() == model.state);
  CHECK(tensors.at("adamw.m/fc.weight").shape.empty());
  CHECK(tensors.at("empty").shape == Shape{0, 4});
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, read_file(dir.file("a.safetensors")).data(), 8);
  CHECK(header_size % 8 == 0);
}

TEST_CASE("safetensors: headers that lie are refused", "[unit][checkpoint]") {
  const TempDir dir;
  const auto error = [&](const std::string& header, const std::string& data) {
    const std::uint64_t size = header.size();
    std::string text(8, '\0');
    std::memcpy(text.data(), &size, 8);
    const auto read = checkpoint::read_safetensors_header(dir.write("b.safetensors", text + header + data));
    return read ? std::string() : read.error().message;
  };
  const std::string f32 = R"("dtype":"F32","shape":)";
  CHECK(error("{}", "").empty());
  CHECK(error("{\"a\":{" + f32 + "[1],\"data_offsets\":[0,4]}}", "1234").empty());
  CHECK_THAT(error("{\"a\":{" + f32 + "[2],\"data_offsets\":[0,4]}}", "1234"), contains("tensor `a`"));
  CHECK_THAT(error("{\"a\":{" + f32 + "[-1],\"data_offsets\":[0,4]}}", "1234"), contains("tensor `a`"));
  CHECK_THAT(error("{\"a\":{" + f32 + "[4611686018427387904,4],\"data_offsets\":[0,0]}}", ""), contains("tensor `a`"));
  CHECK_THAT(error("{\"a\":{" + f32 + "[1],\"data_offsets\":[4,8]}}", "12345678"), contains("does not agree"));
  CHECK_THAT(
      error("{\"a\":{" + f32 + "[1],\"data_offsets\":[0,4]},\"b\":{" + f32 + "[1],\"data_offsets\":[0,4]}}", "1234"),
      contains("does not agree"));
  CHECK_THAT(error("{\"a\":{" + f32 + "[1],\"data_offsets\":[0,4]}}", "12345"), contains("does not agree"));
  CHECK_THAT(error("{\"a\":{\"dtype\":\"F8\",\"shape\":[1],\"data_offsets\":[0,4]}}", "1234"), contains("tensor `a`"));
  CHECK_THAT(error("[1, 2]", ""), contains("damaged"));
  CHECK_THAT(error("{\"a\": 3}", ""), contains("damaged"));
}
