#include "compiler/check/contract.hpp"
#include "contract_support.hpp"
#include "tests/support/catch.hpp"

namespace dtj::check {
namespace {

using testing::stated;

Stated<MeshSpec> mesh_of(std::int64_t dp) { return {MeshSpec{dp, 1, 1}, testing::somewhere(90), Presence::known}; }

Stated<Quantity> batch(double amount, UnitKind kind, std::uint32_t at) { return stated(Quantity{amount, kind}, at); }

DataDraft draft_of(double global, UnitKind kind = UnitKind::sample) {
  DataDraft draft;
  draft.spec.name = "train";
  draft.has_source = true;
  draft.global_batch = batch(global, kind, 10);
  return draft;
}

void check_parts(const DataDraft& draft, std::int64_t global, std::int64_t micro, std::int64_t accumulation) {
  CHECK(draft.spec.global_batch == global);
  CHECK(draft.spec.micro_batch == micro);
  CHECK(draft.spec.gradient_accumulation == accumulation);
}

}  // namespace

TEST_CASE("contract: the parts of a batch that are absent are derived", "[unit][check]") {
  diag::Sink sink;
  SECTION("both") {
    DataDraft draft = draft_of(128);
    CHECK(check_batch(draft, mesh_of(2), true, sink));
    check_parts(draft, 128, 64, 1);
  }
  SECTION("the accumulation") {
    DataDraft draft = draft_of(128);
    draft.micro_batch = batch(16, UnitKind::sample, 20);
    CHECK(check_batch(draft, mesh_of(2), true, sink));
    check_parts(draft, 128, 16, 4);
  }
  SECTION("the micro batch") {
    DataDraft draft = draft_of(128);
    draft.gradient_accumulation = stated(std::int64_t{8}, 30);
    CHECK(check_batch(draft, mesh_of(2), true, sink));
    check_parts(draft, 128, 8, 8);
  }
  SECTION("tokens become samples") {
    DataDraft draft = draft_of(4096, UnitKind::tok);
    draft.seq = stated(std::int64_t{64}, 40);
    CHECK(check_batch(draft, mesh_of(2), true, sink));
    check_parts(draft, 64, 32, 1);
  }
  CHECK(sink.sorted().empty());
}

TEST_CASE("contract: an indivisible batch names the nearest valid ones on both sides", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(127);
  CHECK_FALSE(check_batch(draft, mesh_of(4), true, sink));
  CHECK(testing::kinds(sink) == std::vector{diag::Kind::indivisible_batch});
  CHECK(testing::help_of(sink) == "nearest valid: `global_batch = 124sample` or `global_batch = 128sample`");
}

TEST_CASE("contract: a batch below the least valid one has one nearest", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(500'000, UnitKind::tok);
  draft.seq = stated(std::int64_t{1024}, 40);
  draft.global_batch.value.amount = 512'000;
  draft.micro_batch = batch(16, UnitKind::sample, 20);
  CHECK_FALSE(check_batch(draft, mesh_of(32), true, sink));
  REQUIRE(testing::kinds(sink) == std::vector{diag::Kind::indivisible_batch});
  CHECK(sink.sorted()[0].range_label == "500 / (16 sample * 32 dp) = 0.9766 steps of accumulation");
  CHECK(testing::help_of(sink) == "nearest valid: `global_batch = 524_288tok`");
}

TEST_CASE("contract: tokens that are no whole number of samples are an error", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(1000, UnitKind::tok);
  draft.seq = stated(std::int64_t{64}, 40);
  CHECK_FALSE(check_batch(draft, mesh_of(2), true, sink));
  CHECK(testing::kinds(sink) == std::vector{diag::Kind::indivisible_batch});
  CHECK(testing::help_of(sink) == "nearest valid: `global_batch = 896tok` or `global_batch = 1024tok`");
}

TEST_CASE("contract: parts that do not multiply to the batch are an error", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(128);
  draft.micro_batch = batch(16, UnitKind::sample, 20);
  draft.gradient_accumulation = stated(std::int64_t{2}, 30);
  CHECK_FALSE(check_batch(draft, mesh_of(2), true, sink));
  CHECK(testing::kinds(sink) == std::vector{diag::Kind::batch_mismatch});
  CHECK(testing::help_of(sink) == "write `global_batch = 64sample`, or `gradient_accumulation = 4`");
}

TEST_CASE("contract: tokens without a sequence length are an error", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(1000, UnitKind::tok);
  CHECK_FALSE(check_batch(draft, mesh_of(2), true, sink));
  CHECK(testing::kinds(sink) == std::vector{diag::Kind::missing_sequence_length});
}

TEST_CASE("contract: an evaluation takes its batch in one pass", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(1000);
  CHECK(check_batch(draft, mesh_of(2), false, sink));
  check_parts(draft, 1000, 500, 1);
  CHECK(sink.sorted().empty());
  draft.gradient_accumulation = stated(std::int64_t{2}, 30);
  CHECK_FALSE(check_batch(draft, mesh_of(2), false, sink));
  CHECK(testing::kinds(sink) == std::vector{diag::Kind::batch_mismatch});
}

TEST_CASE("contract: an unknown part is silent", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(127);
  draft.micro_batch = testing::unknown<Quantity>();
  CHECK_FALSE(check_batch(draft, mesh_of(2), true, sink));
  CHECK(sink.sorted().empty());
}

TEST_CASE("contract: training drops an incomplete batch", "[unit][check]") {
  diag::Sink sink;
  DataDraft draft = draft_of(128);
  draft.sampler = stated(SamplerSpec{SamplerKind::shuffle, 3, LastBatch::pad}, 50);
  draft.drop_last = true;
  check_sampler(draft, sink);
  CHECK(sink.sorted().empty());
  draft.drop_last = false;
  check_sampler(draft, sink);
  CHECK(testing::help_of(sink) == "write `shuffle(seed = 3, drop_last = true)`");
}

}  // namespace dtj::check
