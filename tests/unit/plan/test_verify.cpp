#include <functional>
#include <limits>

#include "engine/plan/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/plan/sample_plan.hpp"

using namespace dtj;
using plan::ExecutionPlan;

namespace {

struct Damage {
  const char* expected;  ///< part of the message
  std::function<void(ExecutionPlan&)> apply;
};

template <class T>
T& step(ExecutionPlan& plan, std::size_t index) {
  return std::get<T>(plan.micro_only.steps.at(index).what);
}

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("verify: a sound plan passes", "[unit][plan]") {
  const auto status = plan::verify(test::sample_plan());
  INFO((status ? "" : status.error().to_string()));
  CHECK(status);
}

TEST_CASE("verify: every fault is named", "[unit][plan]") {
  using namespace plan;
  const std::vector<Damage> damages = {
      {"format version", [](auto& p) { p.format_version = 99; }},
      {"leave the", [](auto& p) { p.buffers[0].offset = 1 << 20; }},
      {"leave the", [](auto& p) { p.buffers[1].offset = -64; }},
      {"not a multiple", [](auto& p) { p.buffers[0].offset = 4; }},
      {"do not match", [](auto& p) { p.buffers[0].size = 71; }},
      {"do not match",
       [](auto& p) {
         p.buffers[0].shape = {huge, huge};
       }},
      {"do not match",
       [](auto& p) {
         p.buffers[0].shape = {-6, -3};
       }},
      {"arena persistent", [](auto& p) { p.arena_bytes[0] = -1; }},
      {"overlap", [](auto& p) { p.buffers[1].offset = 0; }},
      {"two tensors named", [](auto& p) { p.buffers[1].name = "weight"; }},
      {"tensor with buffer", [](auto& p) { p.tensors[0].buffer = BufferId{1000}; }},
      {"lies in the", [](auto& p) { p.tensors[0].buffer = BufferId{2}; }},
      {"standard deviation", [](auto& p) { p.tensors[0].init.b = -1; }},
      {"not finite", [](auto& p) { p.tensors[0].init.a = std::numeric_limits<double>::quiet_NaN(); }},
      {"constant 0", [](auto& p) { p.constants[0].push_back('x'); }},
      {"constants for", [](auto& p) { p.constants.clear(); }},
      {"lies in object", [](auto& p) { p.kernels[0].object = 1; }},
      {"leave the gradient arena", [](auto& p) { p.collectives[0].count = huge; }},
      {"leave the gradient arena", [](auto& p) { p.collectives[0].offset = 2; }},
      {"cannot sum", [](auto& p) { p.collectives[0].dtype = DType::u8; }},
      {"unknown axis", [](auto& p) { p.collectives[0].axis = "xp"; }},
      {"kernel 7", [](auto& p) { step<KernelStep>(p, 4).kernel = KernelId{7}; }},
      {"grain 0", [](auto& p) { step<KernelStep>(p, 4).grain = 0; }},
      {"buffer 99", [](auto& p) { step<KernelStep>(p, 4).args[0] = BufferId{99}; }},
      {"operand a", [](auto& p) { step<GemmStep>(p, 1).m = 5; }},
      {"operand b", [](auto& p) { step<GemmStep>(p, 1).n = 7; }},
      {"operand a", [](auto& p) { step<GemmStep>(p, 1).lda = huge; }},
      {"leading dimension 2", [](auto& p) { step<GemmStep>(p, 1).lda = 2; }},
      {"one place", [](auto& p) { step<GemmStep>(p, 1).batch = 2; }},
      {"gemm of i32", [](auto& p) { step<GemmStep>(p, 1).a = BufferId{4}; }},
      {"gather_rows needs", [](auto& p) { step<BuiltinStep>(p, 0).args.pop_back(); }},
      {"argmax_last needs",
       [](auto& p) { std::swap(step<BuiltinStep>(p, 2).args[0], step<BuiltinStep>(p, 2).args[1]); }},
      {"scatter_add_rows needs", [](auto& p) { step<BuiltinStep>(p, 5).args[1] = step<BuiltinStep>(p, 5).args[2]; }},
      {"copy of", [](auto& p) { std::get<CopyStep>(p.update.steps[0].what).to = BufferId{3}; }},
      {"never waited for", [](auto& p) { p.micro_only.steps.pop_back(); }},
      {"not in flight", [](auto& p) { p.micro_only.steps.erase(p.micro_only.steps.begin() + 6); }},
      {"started twice", [](auto& p) { p.micro_only.steps[7] = p.micro_only.steps[6]; }},
      {"transient bytes", [](auto& p) { p.micro_only.transient_bytes = huge; }},
      {"batch buffers for", [](auto& p) { p.ports.train_batch.clear(); }},
      {"field `tokens`", [](auto& p) { p.job.train_data.fields[0].dtype = DType::i64; }},
      {"metric buffers", [](auto& p) { p.ports.train_metrics.clear(); }},
      {"port step", [](auto& p) { p.ports.step = BufferId{0}; }},
      {"product of the mesh", [](auto& p) { p.job.mesh.dp = 1; }},
      {"global_batch", [](auto& p) { p.job.train_data.global_batch = 9; }},
      {"micro_batch", [](auto& p) { p.job.train_data.micro_batch = 0; }},
      {"collective_timeout", [](auto& p) { p.job.launch.collective_timeout_seconds = 0; }},
      {"checkpoint.keep", [](auto& p) { p.job.checkpoint->keep = 0; }},
      {"train.stop", [](auto& p) { p.job.train.stop.amount = -1; }},
  };
  for (const Damage& damage : damages) {
    ExecutionPlan broken = test::sample_plan();
    damage.apply(broken);
    const auto status = plan::verify(broken);
    INFO("expected: " << damage.expected);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::invalid_argument);
    INFO(status.error().message);
    CHECK(status.error().message.find(damage.expected) != std::string::npos);
  }
}

TEST_CASE("verify: a fault in a step names program, step and line", "[unit][plan]") {
  ExecutionPlan broken = test::sample_plan();
  step<plan::GemmStep>(broken, 1).m = 5;
  const auto status = plan::verify(broken);
  REQUIRE_FALSE(status);
  CHECK(status.error().to_string().find("program `micro_only` step 1 `linear` at job.dtj:12") != std::string::npos);
}
