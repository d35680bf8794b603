#include "engine/monitor/metrics.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/support/contains.hpp"
#include "tests/support/temp_dir.hpp"

using namespace dtj;
using namespace dtj::test;
using monitor::MetricsField;
using monitor::MetricsWriter;

namespace {

std::vector<nlohmann::json> read_lines(const std::string& path) {
  std::ifstream in(path);
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(in, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

}  // namespace

TEST_CASE("metrics: a record is one line of JSON with exact numbers", "[unit][monitor]") {
  const TempDir dir;
  const std::string path = dir.file("a/b/metrics.jsonl");
  const auto writer = MetricsWriter::open(path);
  REQUIRE(writer);
  const std::vector<MetricsField> record{{"step", std::int64_t{7}},
                                         {"loss", 0.1 + 0.2},
                                         {"tiny", 5e-324},
                                         {"whole", 3.0},
                                         {"met", true},
                                         {"text", std::string_view("a\"b\\c\n\x01")}};
  REQUIRE((*writer)->write(record));
  const auto records = read_lines(path);  // while the file is still open
  REQUIRE(records.size() == 1);
  CHECK(records[0].at("step") == 7);
  CHECK(records[0].at("loss").get<double>() == 0.1 + 0.2);
  CHECK(records[0].at("tiny").get<double>() == 5e-324);
  CHECK(records[0].at("whole").get<double>() == 3.0);
  CHECK(records[0].at("met") == true);
  CHECK(records[0].at("text") == "a\"b\\c\n\x01");
}

TEST_CASE("metrics: numbers that are not finite are null", "[unit][monitor]") {
  const TempDir dir;
  const std::vector<MetricsField> record{{"a", std::nan("")}, {"b", -std::numeric_limits<double>::infinity()}};
  REQUIRE((*MetricsWriter::open(dir.file("m")))->write(record));
  CHECK(read_lines(dir.file("m"))[0].dump() == R"({"a":null,"b":null})");
}

TEST_CASE("metrics: a second run appends", "[unit][monitor]") {
  const TempDir dir;
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::vector<MetricsField> record{{"i", i}};
    REQUIRE((*MetricsWriter::open(dir.file("m")))->write(record));
  }
  const auto records = read_lines(dir.file("m"));
  REQUIRE(records.size() == 3);
  CHECK(records[2].at("i") == 2);
}

TEST_CASE("metrics: a path that cannot be written is unavailable, by name", "[unit][monitor]") {
  const TempDir dir;
  dir.write("file", "x");
  for (const std::string& path : {dir.file("file/m"), dir.path().string()}) {
    const auto writer = MetricsWriter::open(path);
    REQUIRE_FALSE(writer);
    CHECK(writer.error().code == ErrorCode::unavailable);
    CHECK_THAT(writer.error().message, contains(path));
  }
}
