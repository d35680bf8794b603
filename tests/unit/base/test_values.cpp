#include "engine/base/error.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/result.hpp"
#include "engine/base/shape.hpp"
#include "engine/base/units.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;

TEST_CASE("error: context follows the message", "[unit][base]") {
  Error error{ErrorCode::aborted, "rank 1 died", {}};
  CHECK(error.to_string() == "rank 1 died");
  const Status status = fail_with(std::move(error), "step 3");
  REQUIRE_FALSE(status);
  CHECK(status.error().to_string() == "rank 1 died (step 3)");
  CHECK(to_string(status.error().code) == "aborted");
}

TEST_CASE("hash64: reference values and seeds", "[unit][base]") {
  CHECK(hash64("") == 0x2d06800538d394c2ull);  // XXH3_64bits of nothing
  CHECK(hash64("a") != hash64("b"));
  CHECK(hash64("a", 1) != hash64("a", 2));
  CHECK(to_hex(0x2aull) == "000000000000002a");
}

TEST_CASE("shape: elements, strides, text", "[unit][base]") {
  CHECK(num_elements({}) == 1);
  CHECK(num_elements({2, 0, 3}) == 0);
  CHECK(num_elements({2, 3, 4}) == 24);
  CHECK(contiguous_strides({2, 3, 4}) == std::vector<std::int64_t>{12, 4, 1});
  CHECK(to_string(Shape{2, 3}) == "[2, 3]");
  CHECK(to_string(Shape{}) == "[]");
}

TEST_CASE("units: readable text", "[unit][base]") {
  CHECK(to_string(Bytes{0}) == "0 B");
  CHECK(to_string(Bytes{1023}) == "1023 B");
  CHECK(to_string(Bytes{1024}) == "1.0 KiB");
  CHECK(to_string(Bytes{13107200}) == "12.5 MiB");
  CHECK(to_string(Bytes{1048575}) == "1.0 MiB");
  CHECK(to_string(Progress{500, ProgressUnit::step}) == "500step");
  CHECK(to_string(Progress{1800, ProgressUnit::time}) == "30min");
  CHECK(to_string(Progress{7200, ProgressUnit::time}) == "2h");
  CHECK(to_string(Progress{1.5, ProgressUnit::epoch}) == "1.5epoch");
  CHECK(to_string(Progress{90, ProgressUnit::time}) == "90s");
}
