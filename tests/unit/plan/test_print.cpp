#include <nlohmann/json.hpp>

#include "engine/plan/print.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/plan/sample_plan.hpp"

using namespace dtj;

TEST_CASE("summary: JSON holds ranks, parameters, bytes and collectives", "[unit][plan]") {
  const auto json = nlohmann::json::parse(plan::summary_json(test::sample_plan()));
  CHECK(json["world_size"] == 2);
  CHECK(json["mesh"]["dp"] == 2);
  CHECK(json["parameters"] == 18);
  CHECK(json["bytes_per_rank"]["param"] == 72);
  CHECK(json["bytes_per_rank"]["optimizer"] == 72);
  CHECK(json["bytes_per_rank"]["transient"] == json["arenas"]["transient"]);
  CHECK(json["collectives"].size() == 1);
  CHECK(json["collectives"][0]["bytes"] == 132);
  CHECK(json["programs"][0]["name"] == "micro_only");
  CHECK(json["programs"][0]["steps"] == 8);
  CHECK(json["programs"][0]["gemms"] == 1);
}

TEST_CASE("summary: bytes that are not UTF-8 do not break the JSON", "[unit][plan]") {
  auto plan = test::sample_plan();
  plan.job.name = "caf\xe9";
  CHECK_NOTHROW(nlohmann::json::parse(plan::summary_json(plan)));
}

TEST_CASE("summary: text names what a reader looks for", "[unit][plan]") {
  const std::string text = plan::summary_text(test::sample_plan());
  for (const char* part : {"job sample", "world size     2", "18 in 1 tensors", "33 x f32 = 132 B", "bucket 0 (weight)",
                           "micro_only", "transient"}) {
    INFO(part << "\n" << text);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("listing: one line per step, with its source", "[unit][plan]") {
  const std::string text = plan::listing(test::sample_plan());
  CHECK(text.find("gemm rows:f32[4, 3] x weight:f32[6, 3]^T -> product:f32[4, 6]") != std::string::npos);
  CHECK(text.find("kernel kernel_0") != std::string::npos);
  CHECK(text.find("`embedding`  job.dtj:12") != std::string::npos);
  CHECK(text.find("start bucket 0 (weight)") != std::string::npos);
}
