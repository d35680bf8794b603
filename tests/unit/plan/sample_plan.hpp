#pragma once

#include "engine/plan/plan.hpp"

namespace dtj::test {

/// Adds a buffer of this shape at the end of its arena.
inline plan::BufferId add_buffer(plan::ExecutionPlan& plan, const std::string& name, DType dtype, Shape shape,
                                 plan::Arena arena, plan::BufferClass cls) {
  plan::Buffer buffer{name, dtype, std::move(shape), cls, arena, plan.arena_bytes[static_cast<int>(arena)], 0};
  buffer.size = num_elements(buffer.shape) * static_cast<std::int64_t>(size_of(dtype));
  plan.arena_bytes[static_cast<int>(arena)] += (buffer.size + 63) / 64 * 64;
  plan.buffers.push_back(buffer);
  return plan::BufferId{static_cast<std::uint32_t>(plan.buffers.size() - 1)};
}

/// A small job on two ranks with one step of every kind. It computes nothing sensible, but it verifies.
inline plan::ExecutionPlan sample_plan() {
  using plan::Arena;
  using plan::BufferClass;
  plan::ExecutionPlan p;
  p.target = "test";
  p.job.name = "sample";
  p.job.seed = 7;
  p.job.launch.ranks_per_node = 2;
  p.job.mesh.dp = 2;
  p.job.train_data.name = "train";
  p.job.train_data.source.path = "/data/one";
  p.job.train_data.global_batch = 8;
  p.job.train_data.micro_batch = 4;
  p.job.train_data.fields = {{"tokens", DType::i32, {}, false}};
  p.job.train.stop = {10, ProgressUnit::step};
  p.job.train.grad_clip_norm = 1.0;
  p.job.checkpoint = CheckpointSpec{"ckpt", {{5, ProgressUnit::step}}, 2, true};
  p.job.metrics = {"loss"};

  const auto weight = add_buffer(p, "weight", DType::f32, {6, 3}, Arena::persistent, BufferClass::param);
  const auto moment = add_buffer(p, "adamw.m/weight", DType::f32, {6, 3}, Arena::persistent, BufferClass::optimizer);
  const auto grad = add_buffer(p, "grad/weight", DType::f32, {6, 3}, Arena::gradient, BufferClass::gradient);
  const auto loss = add_buffer(p, "loss", DType::f32, {}, Arena::gradient, BufferClass::metric);
  const auto tokens = add_buffer(p, "batch.tokens", DType::i32, {4}, Arena::batch, BufferClass::batch);
  const auto step = add_buffer(p, "step", DType::f64, {}, Arena::batch, BufferClass::batch);
  const auto rows = add_buffer(p, "rows", DType::f32, {4, 3}, Arena::transient, BufferClass::activation);
  const auto product = add_buffer(p, "product", DType::f32, {4, 6}, Arena::transient, BufferClass::activation);
  const auto best = add_buffer(p, "best", DType::i32, {4}, Arena::transient, BufferClass::activation);
  const auto ones = add_buffer(p, "ones", DType::f32, {2}, Arena::constant, BufferClass::constant);
  p.tensors = {{weight, {InitKind::normal, 0, 0.02}}, {moment, {}}};
  p.constants = {std::string("\0\0\x80\x3f\0\0\x80\x3f", 8)};
  p.constant_buffers = {ones};
  p.objects = {"object"};
  p.kernels = {{"kernel_0", 0}};
  p.collectives = {{plan::CollectiveOp::all_reduce_sum, DType::f32, 0, 33, "dp", "bucket 0 (weight)"}};

  plan::GemmStep gemm;
  gemm.a = rows, gemm.b = weight, gemm.c = product;
  gemm.trans_b = true;
  gemm.m = 4, gemm.n = 6, gemm.k = 3;
  gemm.lda = 3, gemm.ldb = 3, gemm.ldc = 6;
  const plan::SourceLocation source{"job.dtj", 12, 3};
  p.micro_only.name = "micro_only";
  p.micro_only.transient_bytes = p.arena_bytes[static_cast<int>(Arena::transient)];
  p.micro_only.steps = {
      {plan::BuiltinStep{plan::BuiltinOp::gather_rows, {weight, tokens, rows}}, source, "embedding"},
      {gemm, source, "linear"},
      {plan::BuiltinStep{plan::BuiltinOp::argmax_last, {product, best}}, source, "argmax"},
      {plan::FillZeroStep{loss}, {}, "zero"},
      {plan::KernelStep{plan::KernelId{0}, {product, loss}, 24, 24, 8}, source, "fused(sum)"},
      {plan::BuiltinStep{plan::BuiltinOp::scatter_add_rows, {tokens, rows, grad}}, source, "embedding_vjp"},
      {plan::CollectiveStartStep{plan::CollectiveId{0}}, {}, "bucket 0"},
      {plan::CollectiveWaitStep{plan::CollectiveId{0}}, {}, "bucket 0"},
  };
  p.update.name = "update";
  p.update.steps = {{plan::CopyStep{grad, moment}, source, "copy"}};
  p.ports.train_batch = {tokens};
  p.ports.train_metrics = {loss};
  p.ports.step = step;
  return p;
}

}  // namespace dtj::test
