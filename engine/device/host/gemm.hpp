#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/dtype.hpp"
#include "engine/base/result.hpp"
#include "engine/device/device.hpp"
#include "engine/device/host/worker_pool.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::device {

/// Matrix products through oneDNN. The product is cut into output tiles by its shape alone, so the bits do not depend
/// on the number of workers; each tile is one single-threaded library call.
class HostGemm {
 public:
  explicit HostGemm(WorkerPool& pool);
  ~HostGemm();
  HostGemm(const HostGemm&) = delete;
  HostGemm& operator=(const HostGemm&) = delete;

  /// As Device::gemm. Allocates only when a shape is larger than all before it.
  Status run(const plan::GemmStep& step, DType a_dtype, DType c_dtype, const void* a, const void* b, void* c);

 private:
  class Bf16Library;

  struct Operands {
    const float* a;
    const float* b;
    float* c;
    std::int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
  };

  Status run_f32(const plan::GemmStep& step, const Operands& operands);
  Status run_converted(const plan::GemmStep& step, DType c_dtype, const void* a, const void* b, void* c);
  Status run_bf16(const plan::GemmStep& step, DType c_dtype, const void* a, const void* b, void* c);
  Status reserve(Memory& scratch, std::int64_t elements);

  WorkerPool& pool_;
  Memory scratch_a_, scratch_b_, scratch_c_;
  std::unique_ptr<Bf16Library> bf16_;  ///< none when the CPU has no bf16 products
};

}  // namespace dtj::device
