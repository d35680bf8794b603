#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/result.hpp"
#include "engine/device/device.hpp"
#include "engine/plan/plan.hpp"

namespace dtj::run {

/// A builtin with everything resolved. N = indices, V = rows of the table, C = columns, R = rows of x.
struct BuiltinCall {
  plan::BuiltinOp op = plan::BuiltinOp::gather_rows;
  DType dtype = DType::f32;  ///< of the table, the gradient, or x
  DType out_dtype = DType::f32;
  const std::byte* data = nullptr;      ///< table[V, C], grad[N, C] or x[R, C]
  const std::int32_t* index = nullptr;  ///< [N]
  std::byte* out = nullptr;             ///< [N, C], [V, C] or i32 [R]
  std::int64_t num_indices = 0;
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  std::vector<float> sums;  ///< f32 [V, C] when the scattered result is bf16
};

BuiltinCall make_builtin_call(const plan::ExecutionPlan& plan, const plan::BuiltinStep& step,
                              const std::vector<std::byte*>& buffers);

/// Errors: invalid_argument (an index outside [0, V), with its value and row). Does not allocate otherwise.
Status run_builtin(BuiltinCall& call, device::Device& device);

}  // namespace dtj::run
