#include <cstring>
#include <thread>
#include <vector>

#include "engine/run/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/plan/sample_plan.hpp"
#include "tests/unit/run_executor/native_kernels.hpp"

using namespace dtj;
using namespace dtj::plan;

namespace {

/// out[0] = sum of in; work item i is one element, so it must be asked for whole.
void sum_kernel(void* const* buffers, std::int64_t extent, std::int64_t begin, std::int64_t end) {
  const auto* in = static_cast<const float*>(buffers[0]);
  auto* out = static_cast<float*>(buffers[1]);
  for (std::int64_t i = begin; i < end; ++i) out[0] += in[i] / static_cast<float>(extent);
}

struct RankUnderTest {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<run::Executor> executor;
  test::NativeKernels kernels{{&sum_kernel}};

  RankUnderTest(const ExecutionPlan& plan, comm::Communicator& communicator, monitor::Journal* journal = nullptr) {
    auto made = device::make_host_device({1, {}});
    if (!made) return;
    device = std::move(*made);
    auto built = run::Executor::create(plan, *device, communicator, kernels, journal);
    if (built) executor = std::move(*built);
  }
  float* f32(std::uint32_t buffer) { return reinterpret_cast<float*>(executor->data(BufferId{buffer})); }
  std::int32_t* i32(std::uint32_t buffer) { return reinterpret_cast<std::int32_t*>(executor->data(BufferId{buffer})); }
};

// Buffers of sample_plan by position.
constexpr std::uint32_t weight = 0, moment = 1, grad = 2, loss = 3, tokens = 4, rows = 6, product = 7, best = 8,
                        ones = 9;

/// The sample for one rank; its kernel runs in one piece.
ExecutionPlan single_rank_plan() {
  ExecutionPlan plan = test::sample_plan();
  plan.job.launch.ranks_per_node = 1;
  plan.job.mesh.dp = 1;
  plan.job.train_data.global_batch = 4;
  std::get<KernelStep>(plan.micro_only.steps[4].what).grain = 24;
  return plan;
}

void fill_inputs(RankUnderTest& rank, float scale) {
  for (int i = 0; i < 18; ++i) rank.f32(weight)[i] = scale * static_cast<float>(i);
  const std::int32_t batch[4] = {5, 0, 2, 2};
  std::memcpy(rank.i32(tokens), batch, sizeof(batch));
}

}  // namespace

TEST_CASE("executor: walks every kind of step", "[unit][run]") {
  const ExecutionPlan plan = single_rank_plan();
  const auto self = comm::make_self_communicator();
  RankUnderTest rank(plan, *self);
  REQUIRE(rank.executor);
  CHECK(rank.f32(ones)[0] == 1.0f);
  CHECK(rank.f32(weight)[0] == 0.0f);
  fill_inputs(rank, 1);
  const auto status = rank.executor->run(plan.micro_only);
  INFO((status ? "" : status.error().to_string()));
  REQUIRE(status);
  CHECK(rank.f32(rows)[0] == 15.0f);  // row 5 of the table
  CHECK(rank.f32(rows)[3] == 0.0f);   // row 0
  // product[i, j] = rows[i] . weight[j]
  CHECK(rank.f32(product)[0] == 15.0f * 0 + 16.0f * 1 + 17.0f * 2);
  CHECK(rank.f32(product)[5] == 15.0f * 15 + 16.0f * 16 + 17.0f * 17);
  CHECK(rank.i32(best)[0] == 5);
  float mean = 0;
  for (int i = 0; i < 24; ++i) mean += rank.f32(product)[i] / 24.0f;
  CHECK(rank.f32(loss)[0] == mean);
  // Token 2 stands twice in the batch.
  CHECK(rank.f32(grad)[6] == 12.0f);
  CHECK(rank.f32(grad)[3] == 0.0f);
  REQUIRE(rank.executor->run(plan.update));
  CHECK(rank.f32(moment)[6] == 12.0f);
}

TEST_CASE("executor: collectives sum over the ranks", "[unit][run]") {
  const ExecutionPlan plan = test::sample_plan();
  auto ranks = comm::make_local_communicators(2, std::chrono::seconds(20));
  REQUIRE(ranks);
  float sums[2] = {0, 0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      RankUnderTest rank(plan, *(*ranks)[i]);
      if (!rank.executor) return;
      fill_inputs(rank, static_cast<float>(i + 1));
      if (rank.executor->run(plan.micro_only)) sums[i] = rank.f32(grad)[6];
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sums[0] == 12.0f + 24.0f);
  CHECK(sums[1] == sums[0]);
}

TEST_CASE("executor: an error carries the step, its label and its line", "[unit][run]") {
  const ExecutionPlan plan = single_rank_plan();
  const auto self = comm::make_self_communicator();
  RankUnderTest rank(plan, *self);
  REQUIRE(rank.executor);
  fill_inputs(rank, 1);
  rank.i32(tokens)[2] = 6;
  const auto status = rank.executor->run(plan.micro_only);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::invalid_argument);
  CHECK(status.error().to_string() ==
        "index 6 in row 2 is outside [0, 6) (program `micro_only` step 0 `embedding` at job.dtj:12)");
}

TEST_CASE("executor: a failed collective is named", "[unit][run]") {
  const ExecutionPlan plan = single_rank_plan();
  const auto self = comm::make_self_communicator();
  RankUnderTest rank(plan, *self);
  REQUIRE(rank.executor);
  fill_inputs(rank, 1);
  self->abort("rank 1 died");
  const auto status = rank.executor->run(plan.micro_only);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::aborted);
  CHECK(status.error().to_string().find("collective `bucket 0 (weight)`") != std::string::npos);
}

TEST_CASE("executor: reports arenas, time and journal", "[unit][run]") {
  const ExecutionPlan plan = single_rank_plan();
  const auto self = comm::make_self_communicator();
  const test::TempDir dir;
  auto journal = monitor::create_journal(dir.file("journal"));
  REQUIRE(journal);
  RankUnderTest rank(plan, *self, journal->get());
  REQUIRE(rank.executor);
  const auto allocated = rank.executor->allocated();
  REQUIRE(allocated.size() == num_arenas);
  for (int i = 0; i < num_arenas; ++i) CHECK(allocated[static_cast<std::size_t>(i)].count == plan.arena_bytes[i]);

  fill_inputs(rank, 1);
  REQUIRE(rank.executor->run(plan.micro_only));
  const run::TimeSplit split = rank.executor->take_time_split();
  CHECK(split.compute > 0);
  CHECK(split.communication >= 0);
  CHECK(rank.executor->take_time_split().compute == 0);

  const auto entry = monitor::read_journal(dir.file("journal"));
  REQUIRE(entry);
  CHECK(entry->plan_step == 7);
  CHECK(entry->label == "bucket 0");
  CHECK(entry->sequence == 1);
  CHECK(entry->collective == "bucket 0 (weight)");
  CHECK_FALSE(entry->waiting);
}

TEST_CASE("executor: refuses a plan that does not verify, and a foreign program", "[unit][run]") {
  const auto self = comm::make_self_communicator();
  ExecutionPlan broken = single_rank_plan();
  broken.buffers[0].offset = 1 << 20;
  auto device = device::make_null_device();
  test::NativeKernels kernels({&sum_kernel});
  CHECK(run::Executor::create(broken, *device, *self, kernels, nullptr).error().code == ErrorCode::invalid_argument);

  const ExecutionPlan plan = single_rank_plan();
  RankUnderTest rank(plan, *self);
  REQUIRE(rank.executor);
  const Program other = plan.micro_only;
  CHECK(rank.executor->run(other).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("executor: the null device walks a plan without computing", "[unit][run]") {
  const ExecutionPlan plan = single_rank_plan();
  const auto self = comm::make_self_communicator();
  auto device = device::make_null_device();
  test::NativeKernels kernels({&sum_kernel});
  auto executor = run::Executor::create(plan, *device, *self, kernels, nullptr);
  REQUIRE(executor);
  CHECK((*executor)->run(plan.micro_only));
  CHECK(*reinterpret_cast<float*>((*executor)->data(BufferId{product})) == 0.0f);
}
