#include "engine/device/host/gemm.hpp"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/format.h>

#include "engine/device/host/bf16_library.hpp"
#include "engine/device/host/convert.hpp"
#include "engine/device/host/tiles.hpp"
#include "engine/device/host_memory.hpp"

namespace dtj::device {
namespace {

/// A matrix [batch, rows, cols] somewhere in memory.
struct Layout {
  std::int64_t batch, rows, cols, ld, stride;
};

/// Rows of a strided bf16 matrix to or from a dense f32 one, over all workers.
template <class CopyRow>
void for_each_row(WorkerPool& pool, const Layout& layout, const CopyRow& copy_row) {
  const std::int64_t grain = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(layout.cols, 1));
  const auto body = [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t strided = (row / layout.rows) * layout.stride + (row % layout.rows) * layout.ld;
      copy_row(strided, row * layout.cols);
    }
  };
  pool.run(layout.batch * layout.rows, grain, body);
}

/// k = 0: the product is zero.
void clear(const plan::GemmStep& step, DType c_dtype, void* c) {
  const auto element = static_cast<std::int64_t>(size_of(c_dtype));
  for (std::int64_t batch = 0; batch < step.batch; ++batch) {
    for (std::int64_t row = 0; row < step.m; ++row) {
      char* start = static_cast<char*>(c) + (batch * step.stride_c + row * step.ldc) * element;
      std::memset(start, 0, static_cast<std::size_t>(step.n * element));
    }
  }
}

}  // namespace

HostGemm::HostGemm(WorkerPool& pool) : pool_(pool) {
  try {
    if (Bf16Library::is_supported()) bf16_ = std::make_unique<Bf16Library>(pool.num_threads());
  } catch (const dnnl::error&) {
    bf16_.reset();  // the converted product works on every machine
  }
}

HostGemm::~HostGemm() = default;

Status HostGemm::run(const plan::GemmStep& step, DType a_dtype, DType c_dtype, const void* a, const void* b, void* c) {
  const bool is_f32 = a_dtype == DType::f32 && c_dtype == DType::f32;
  const bool is_bf16 = a_dtype == DType::bf16 && (c_dtype == DType::f32 || c_dtype == DType::bf16);
  const bool is_rounded = a_dtype == DType::f32 && c_dtype == DType::bf16;
  if (!is_f32 && !is_bf16 && !is_rounded) {
    return fail(ErrorCode::unimplemented,
                fmt::format("host gemm of {} into {}", to_string(a_dtype), to_string(c_dtype)));
  }
  if (step.batch == 0 || step.m == 0 || step.n == 0) return {};
  if (step.k == 0) {
    if (!step.accumulate) clear(step, c_dtype, c);
    return {};
  }
  if (is_f32) {
    return run_f32(step, {static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c), step.lda,
                          step.ldb, step.ldc, step.stride_a, step.stride_b, step.stride_c});
  }
  if (is_bf16 && bf16_ != nullptr) return run_bf16(step, c_dtype, a, b, c);
  if (is_bf16) return run_converted(step, c_dtype, a, b, c);

  // f32 operands, bf16 result: only the result goes through scratch.
  DTJ_TRY(reserve(scratch_c_, step.batch * step.m * step.n));
  auto* dense = reinterpret_cast<float*>(scratch_c_.data());
  auto* rounded = static_cast<std::uint16_t*>(c);
  const Layout c_layout{step.batch, step.m, step.n, step.ldc, step.stride_c};
  if (step.accumulate) {
    for_each_row(pool_, c_layout,
                 [&](std::int64_t from, std::int64_t to) { bf16_to_f32(rounded + from, dense + to, step.n); });
  }
  DTJ_TRY(run_f32(step, {static_cast<const float*>(a), static_cast<const float*>(b), dense, step.lda, step.ldb, step.n,
                         step.stride_a, step.stride_b, step.m * step.n}));
  for_each_row(pool_, c_layout,
               [&](std::int64_t to, std::int64_t from) { f32_to_bf16(dense + from, rounded + to, step.n); });
  return {};
}

Status HostGemm::run_f32(const plan::GemmStep& step, const Operands& operands) {
  const Tiling tiling(step.batch, step.m, step.n);
  std::atomic<int> failure{dnnl_success};
  const auto body = [&](int, std::int64_t begin, std::int64_t end) {
    ::omp_set_num_threads(1);
    for (std::int64_t index = begin; index < end; ++index) {
      const Tile tile = tiling.at(index);
      const float* a = operands.a + tile.batch * operands.stride_a + (step.trans_a ? tile.m0 : tile.m0 * operands.lda);
      const float* b = operands.b + tile.batch * operands.stride_b + (step.trans_b ? tile.n0 * operands.ldb : tile.n0);
      float* c = operands.c + tile.batch * operands.stride_c + tile.m0 * operands.ldc + tile.n0;
      const dnnl_status_t status =
          ::dnnl_sgemm(step.trans_a ? 'T' : 'N', step.trans_b ? 'T' : 'N', tile.m, tile.n, step.k, 1.0f, a,
                       operands.lda, b, operands.ldb, step.accumulate ? 1.0f : 0.0f, c, operands.ldc);
      if (status != dnnl_success) failure.store(status, std::memory_order_relaxed);
    }
  };
  pool_.run(tiling.count(), 1, body);
  if (failure.load() == dnnl_success) return {};
  return fail(failure.load() == dnnl_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::internal,
              fmt::format("oneDNN sgemm failed with status {}", failure.load()));
}

Status HostGemm::run_converted(const plan::GemmStep& step, DType c_dtype, const void* a, const void* b, void* c) {
  // A repeated operand (batch stride 0) is converted once.
  const Layout a_layout{step.stride_a == 0 ? 1 : step.batch, step.trans_a ? step.k : step.m,
                        step.trans_a ? step.m : step.k, step.lda, step.stride_a};
  const Layout b_layout{step.stride_b == 0 ? 1 : step.batch, step.trans_b ? step.n : step.k,
                        step.trans_b ? step.k : step.n, step.ldb, step.stride_b};
  DTJ_TRY(reserve(scratch_a_, a_layout.batch * a_layout.rows * a_layout.cols));
  DTJ_TRY(reserve(scratch_b_, b_layout.batch * b_layout.rows * b_layout.cols));
  auto* dense_a = reinterpret_cast<float*>(scratch_a_.data());
  auto* dense_b = reinterpret_cast<float*>(scratch_b_.data());
  const auto* narrow_a = static_cast<const std::uint16_t*>(a);
  const auto* narrow_b = static_cast<const std::uint16_t*>(b);
  for_each_row(pool_, a_layout,
               [&](std::int64_t from, std::int64_t to) { bf16_to_f32(narrow_a + from, dense_a + to, a_layout.cols); });
  for_each_row(pool_, b_layout,
               [&](std::int64_t from, std::int64_t to) { bf16_to_f32(narrow_b + from, dense_b + to, b_layout.cols); });

  plan::GemmStep dense = step;
  dense.lda = a_layout.cols;
  dense.ldb = b_layout.cols;
  dense.stride_a = step.stride_a == 0 ? 0 : a_layout.rows * a_layout.cols;
  dense.stride_b = step.stride_b == 0 ? 0 : b_layout.rows * b_layout.cols;
  return run(dense, DType::f32, c_dtype, dense_a, dense_b, c);
}

Status HostGemm::run_bf16(const plan::GemmStep& step, DType c_dtype, const void* a, const void* b, void* c) {
  const Tiling tiling(step.batch, step.m, step.n);
  std::atomic<int> failure{dnnl_success};
  const auto body = [&](int worker, std::int64_t begin, std::int64_t end) {
    try {
      for (std::int64_t index = begin; index < end; ++index) {
        bf16_->run_tile(worker, step, tiling.at(index), c_dtype, a, b, c);
      }
    } catch (const dnnl::error& error) {
      failure.store(error.status, std::memory_order_relaxed);
    }
  };
  pool_.run(tiling.count(), 1, body);
  if (failure.load() == dnnl_success) return {};
  return fail(failure.load() == dnnl_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::internal,
              fmt::format("oneDNN matmul failed with status {}", failure.load()));
}

Status HostGemm::reserve(Memory& scratch, std::int64_t elements) {
  const auto bytes = elements * static_cast<std::int64_t>(sizeof(float));
  if (static_cast<std::int64_t>(scratch.size()) >= bytes) return {};
  scratch = Memory();
  DTJ_TRY_ASSIGN(scratch, allocate_host_memory(Bytes{bytes}));
  return {};
}

}  // namespace dtj::device
