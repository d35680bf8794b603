#include "tests/unit/run_trainer/linear_plan.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "engine/plan/serialize.hpp"

namespace dtj::test {
namespace {

constexpr std::int64_t num_pixels = 16;

float* f32(void* const* buffers, int i) {
  return static_cast<float*>(buffers[i]);
}

// prediction, bias, label -> residual, bias gradient, loss; extent = global batch.
template <bool adds>
void residual(void* const* b, std::int64_t extent, std::int64_t begin, std::int64_t end) {
  const auto* label = static_cast<const std::int32_t*>(b[2]);
  float loss = 0, bias_gradient = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const float difference = f32(b, 0)[i] + *f32(b, 1) - static_cast<float>(label[i]);
    f32(b, 3)[i] = 2 * difference / static_cast<float>(extent);
    bias_gradient += f32(b, 3)[i];
    loss += difference * difference / static_cast<float>(extent);
  }
  *f32(b, 4) = bias_gradient + (adds ? *f32(b, 4) : 0);
  *f32(b, 5) = loss + (adds ? *f32(b, 5) : 0);
}

// weight, bias, their momenta and gradients, step -> learning rate, gradient norm
void sgd(float base_rate, void* const* b) {
  const double step = *static_cast<const double*>(b[6]);
  const float rate = base_rate / (1 + 0.01f * static_cast<float>(step));
  float square = *f32(b, 5) * *f32(b, 5);
  for (std::int64_t i = 0; i < num_pixels; ++i) square += f32(b, 4)[i] * f32(b, 4)[i];
  const auto update = [rate](float& p, float& v, float g) {
    v = 0.5f * v + g;
    p -= rate * v;
  };
  for (std::int64_t i = 0; i < num_pixels; ++i) update(f32(b, 0)[i], f32(b, 2)[i], f32(b, 4)[i]);
  update(*f32(b, 1), *f32(b, 3), *f32(b, 5));
  *f32(b, 7) = rate;
  *f32(b, 8) = std::sqrt(square);
}
void sgd_small(void* const* b, std::int64_t, std::int64_t, std::int64_t) {
  sgd(0.02f, b);
}
void sgd_explodes(void* const* b, std::int64_t, std::int64_t, std::int64_t) {
  sgd(1e6f, b);
}

// prediction, bias, label -> mean square, share of labels that the rounded prediction hits; label -1 is left out
void score(void* const* b, std::int64_t, std::int64_t begin, std::int64_t end) {
  const auto* label = static_cast<const std::int32_t*>(b[2]);
  float loss = 0, hits = 0, count = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    if (label[i] == -1) continue;
    const float prediction = f32(b, 0)[i] + *f32(b, 1);
    loss += (prediction - static_cast<float>(label[i])) * (prediction - static_cast<float>(label[i]));
    hits += std::lround(prediction) == label[i] ? 1.0f : 0.0f;
    ++count;
  }
  *f32(b, 3) = loss / std::max(count, 1.0f);
  *f32(b, 4) = hits / std::max(count, 1.0f);
}

// The job declares two metrics; training measures the first only.
void no_accuracy(void* const* b, std::int64_t, std::int64_t, std::int64_t) {
  *f32(b, 0) = 0;
}

const std::map<std::string, device::KernelFn> functions = {{"residual_set", residual<false>},
                                                           {"residual_add", residual<true>},
                                                           {"sgd", sgd_small},
                                                           {"sgd_explodes", sgd_explodes},
                                                           {"score", score},
                                                           {"no_accuracy", no_accuracy}};

class Builder {
 public:
  explicit Builder(const PlanOptions& options) : options_(options) {}

  plan::ExecutionPlan build() {
    fill_job();
    make_buffers();
    plan_.objects = {"native"};
    const auto& accumulation = options_.accumulation;
    plan_.micro_only.name = "micro_only";
    plan_.micro_first.name = "micro_first";
    plan_.micro_middle.name = "micro_middle";
    plan_.micro_last.name = "micro_last";
    if (accumulation == 1) {
      add_micro(plan_.micro_only, false, true);
    } else {
      add_micro(plan_.micro_first, false, false);
      add_micro(plan_.micro_middle, true, false);
      add_micro(plan_.micro_last, true, true);
    }
    plan_.update.name = "update";
    add_kernel(plan_.update, options_.explodes ? "sgd_explodes" : "sgd",
               {w_, b_, vw_, vb_, dw_, db_, step_, rate_, norm_}, 1);
    plan_.evaluate.name = "evaluate";
    if (options_.eval_every) {
      add_gemm(plan_.evaluate, {eval_x_, w_, eval_prediction_}, eval_micro_, 1, num_pixels, false, false);
      add_kernel(plan_.evaluate, "score", {eval_prediction_, b_, eval_y_, eval_loss_, eval_hits_}, eval_micro_);
    }
    set_ports();
    for (auto* program :
         {&plan_.micro_only, &plan_.micro_first, &plan_.micro_middle, &plan_.micro_last, &plan_.evaluate}) {
      program->transient_bytes = plan_.arena_bytes[int(plan::Arena::transient)];
    }
    plan_.hash = plan::compute_hash(plan_);
    return plan_;
  }

 private:
  void fill_job() {
    JobSpec& job = plan_.job;
    job.name = "linear";
    job.seed = 11;
    job.launch.ranks_per_node = job.mesh.dp = options_.world_size;
    job.launch.collective_timeout_seconds = 20;
    DataSpec& data = job.train_data;
    data.name = "train";
    data.source.path = options_.data;
    data.source.num_classes = 4;
    data.source.height = data.source.width = 4;
    data.sampler = {SamplerKind::shuffle, 5, LastBatch::drop};
    data.global_batch = options_.global_batch;
    data.gradient_accumulation = options_.accumulation;
    data.micro_batch = micro_ = options_.global_batch / options_.accumulation / options_.world_size;
    data.fields = {{"image", DType::f32, {1, 4, 4}, false}, {"label", DType::i32, {}, true}};
    job.train.stop = options_.stop;
    job.train.log_every = {5, ProgressUnit::step};
    job.metrics = {"loss", "acc"};
    if (!options_.checkpoint_dir.empty())
      job.checkpoint = CheckpointSpec{options_.checkpoint_dir, options_.checkpoint_every, 2, true};
    if (!options_.eval_every) return;
    job.eval_data = data;
    job.eval_data->name = "test";
    job.eval_data->source.split = "test";
    job.eval_data->sampler = {SamplerKind::sequential, 0, LastBatch::pad};
    job.eval_data->gradient_accumulation = 1;
    job.eval_data->micro_batch = eval_micro_ = 8 / options_.world_size;
    job.eval_data->global_batch = 8;
    job.eval =
        EvalSpec{"test", *options_.eval_every, std::nullopt, {"loss"}, GoalSpec{"acc", Comparison::greater_equal, 0.5}};
  }

  plan::BufferId add(const std::string& name, DType dtype, Shape shape, plan::BufferClass cls, plan::Arena arena) {
    std::int64_t& end = plan_.arena_bytes[int(arena)];
    const std::int64_t size = std::int64_t(size_of(dtype)) * num_elements(shape);
    plan_.buffers.push_back({name, dtype, std::move(shape), cls, arena, end, size});
    end += (size + 63) / 64 * 64;
    return {std::uint32_t(plan_.buffers.size() - 1)};
  }
  plan::BufferId add_tensor(const std::string& name, Shape shape, plan::BufferClass cls, InitSpec init) {
    const auto id = add(name, DType::f32, std::move(shape), cls, plan::Arena::persistent);
    plan_.tensors.push_back({id, init});
    return id;
  }

  void make_buffers() {
    using plan::Arena;
    using plan::BufferClass;
    w_ = add_tensor("fc.weight", {num_pixels, 1}, BufferClass::param, {InitKind::normal, 0, 0.1});
    b_ = add_tensor("fc.bias", {1}, BufferClass::param, {InitKind::uniform, -0.5, 0.5});
    vw_ = add_tensor("sgd.v/fc.weight", {num_pixels, 1}, BufferClass::optimizer, {});
    vb_ = add_tensor("sgd.v/fc.bias", {1}, BufferClass::optimizer, {});
    dw_ = add("grad/fc.weight", DType::f32, {num_pixels, 1}, BufferClass::gradient, Arena::gradient);
    db_ = add("grad/fc.bias", DType::f32, {1}, BufferClass::gradient, Arena::gradient);
    loss_ = add("loss", DType::f32, {}, BufferClass::metric, Arena::gradient);
    plan_.collectives.push_back({plan::CollectiveOp::all_reduce_sum, DType::f32, 0,
                                 plan_.arena_bytes[int(Arena::gradient)] / 4, "dp", "bucket 0"});
    hits_ = add("acc", DType::f32, {}, BufferClass::metric, Arena::gradient);
    rate_ = add("lr", DType::f32, {}, BufferClass::metric, Arena::gradient);
    norm_ = add("norm", DType::f32, {}, BufferClass::metric, Arena::gradient);
    step_ = add("step", DType::f64, {}, BufferClass::batch, Arena::batch);
    x_ = add("batch.image", DType::f32, {micro_, 1, 4, 4}, BufferClass::batch, Arena::batch);
    y_ = add("batch.label", DType::i32, {micro_}, BufferClass::batch, Arena::batch);
    prediction_ = add("prediction", DType::f32, {micro_, 1}, BufferClass::activation, Arena::transient);
    residual_ = add("residual", DType::f32, {micro_, 1}, BufferClass::activation, Arena::transient);
    if (!options_.eval_every) return;
    eval_x_ = add("eval.image", DType::f32, {eval_micro_, 1, 4, 4}, BufferClass::batch, Arena::batch);
    eval_y_ = add("eval.label", DType::i32, {eval_micro_}, BufferClass::batch, Arena::batch);
    eval_prediction_ = add("eval.prediction", DType::f32, {eval_micro_, 1}, BufferClass::activation, Arena::transient);
    eval_loss_ = add("eval.loss", DType::f32, {}, BufferClass::metric, Arena::gradient);
    eval_hits_ = add("eval.acc", DType::f32, {}, BufferClass::metric, Arena::gradient);
  }

  void add_kernel(plan::Program& program, const std::string& symbol, std::vector<plan::BufferId> args,
                  std::int64_t items) {
    plan_.kernels.push_back({symbol, 0});
    const plan::KernelId id{std::uint32_t(plan_.kernels.size() - 1)};
    program.steps.push_back({plan::KernelStep{id, std::move(args), options_.global_batch, items, items}, {}, symbol});
  }
  void add_gemm(plan::Program& program, std::array<plan::BufferId, 3> operands, std::int64_t m, std::int64_t n,
                std::int64_t k, bool trans_a, bool accumulate) {
    plan::GemmStep gemm;
    gemm.a = operands[0];
    gemm.b = operands[1];
    gemm.c = operands[2];
    gemm.trans_a = trans_a;
    gemm.accumulate = accumulate;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.lda = trans_a ? m : k;
    gemm.ldb = gemm.ldc = n;
    program.steps.push_back({gemm, {}, "matmul"});
  }
  void add_micro(plan::Program& program, bool adds, bool reduces) {
    add_gemm(program, {x_, w_, prediction_}, micro_, 1, num_pixels, false, false);
    add_kernel(program, adds ? "residual_add" : "residual_set", {prediction_, b_, y_, residual_, db_, loss_}, micro_);
    add_kernel(program, "no_accuracy", {hits_}, 1);
    add_gemm(program, {x_, residual_, dw_}, num_pixels, 1, micro_, true, adds);
    if (!reduces) return;
    program.steps.push_back({plan::CollectiveStartStep{{0}}, {}, "all_reduce"});
    program.steps.push_back({plan::CollectiveWaitStep{{0}}, {}, "all_reduce"});
  }
  void set_ports() {
    plan_.ports.train_batch = {x_, y_};
    plan_.ports.train_metrics = {loss_, hits_};
    plan_.ports.step = step_;
    plan_.ports.learning_rate = rate_;
    plan_.ports.gradient_norm = norm_;
    if (!options_.eval_every) return;
    plan_.ports.eval_batch = {eval_x_, eval_y_};
    plan_.ports.eval_metrics = {eval_loss_, eval_hits_};
  }

  const PlanOptions& options_;
  plan::ExecutionPlan plan_;
  std::int64_t micro_ = 0, eval_micro_ = 0;
  plan::BufferId w_, b_, vw_, vb_, dw_, db_, loss_, hits_, rate_, norm_, step_, x_, y_, prediction_, residual_;
  plan::BufferId eval_x_, eval_y_, eval_prediction_, eval_loss_, eval_hits_;
};

RankRun run_rank(const plan::ExecutionPlan& plan, comm::Communicator& communicator, const RunOptions& options) {
  RankRun result;
  run::TrainerCallbacks callbacks;
  callbacks.on_step = [&](const run::StepReport& report) {
    result.losses.push_back(report.metrics.at("loss"));
    if (options.on_step) options.on_step(communicator.rank().value, report.step);
  };
  callbacks.on_log = [&](const run::StepReport& report) { result.logs.push_back(report); };
  callbacks.on_eval = [&](const run::EvalReport& report) { result.evals.push_back(report); };
  callbacks.on_checkpoint = [&](const run::CheckpointReport& report) { result.checkpoints.push_back(report); };
  callbacks.log = [&](LogLevel, std::string_view text) { result.messages.emplace_back(text); };
  auto device = device::make_host_device({});
  NativeLoader loader;
  auto summary = run::train(plan, **device, communicator, loader, nullptr, options.trainer, callbacks);
  if (summary) {
    result.summary = *summary;
  } else {
    result.error = summary.error();
  }
  return result;
}

}  // namespace

plan::ExecutionPlan make_linear_plan(const PlanOptions& options) {
  return Builder(options).build();
}

Result<std::vector<device::KernelFn>> NativeLoader::load(const plan::ExecutionPlan& plan) {
  std::vector<device::KernelFn> loaded;
  for (const plan::Kernel& kernel : plan.kernels) loaded.push_back(functions.at(kernel.symbol));
  return loaded;
}

std::vector<RankRun> run_ranks(const std::vector<plan::ExecutionPlan>& plans, const RunOptions& options,
                               std::int64_t world_size) {
  auto group = comm::make_local_communicators(world_size, std::chrono::seconds(20));
  std::vector<RankRun> results(static_cast<std::size_t>(world_size));
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    threads.emplace_back(
        [&, rank] { results[rank] = run_rank(plans[plans.size() == 1 ? 0 : rank], *(*group)[rank], options); });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

std::map<std::string, std::string> Workplace::tensors(const std::string& out, std::int64_t step) const {
  std::map<std::string, std::string> bytes;
  const std::string number = std::to_string(step);
  const std::string folder = dir.file(out) + "/step-" + std::string(8 - number.size(), '0') + number;
  for (const auto& [name, tensor] : read_safetensors(folder + "/shard-00000-of-00001.safetensors"))
    bytes[name] = tensor.bytes;
  return bytes;
}

std::vector<std::string> Workplace::checkpoints(const std::string& out) const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() / out)) {
    const std::string name = entry.path().filename().string();
    if (name != "latest" && name != ".lock") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace dtj::test
