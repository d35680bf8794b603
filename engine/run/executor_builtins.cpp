#include "engine/run/executor_builtins.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>

namespace dtj::run {
namespace {

using Range = std::function<void(std::int64_t, std::int64_t)>;

/// Work for one worker at a time: about 16 Ki elements.
std::int64_t rows_per_grain(std::int64_t columns) {
  return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(columns, 1));
}

float load(const float* from) {
  return *from;
}
float load(const std::uint16_t* from) {
  return bf16_to_f32(*from);
}

/// N is small beside N * C, so one thread looks at all indices before anything is written.
Status check_indices(const BuiltinCall& call) {
  for (std::int64_t row = 0; row < call.num_indices; ++row) {
    const std::int32_t value = call.index[row];
    if (value >= 0 && value < call.num_rows) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("index {} in row {} is outside [0, {})", value, row, call.num_rows));
  }
  return {};
}

Status gather_rows(const BuiltinCall& call, device::Device& device) {
  DTJ_TRY(check_indices(call));
  const auto row_bytes = static_cast<std::size_t>(call.num_columns) * size_of(call.dtype);
  if (row_bytes == 0) return {};
  const auto body = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::memcpy(call.out + static_cast<std::size_t>(row) * row_bytes,
                  call.data + static_cast<std::size_t>(call.index[row]) * row_bytes, row_bytes);
    }
  };
  device.parallel_for(call.num_indices, rows_per_grain(call.num_columns), Range(std::ref(body)));
  return {};
}

/// Split over columns: each worker adds all rows of its columns in their order, so the sums do not depend on the split.
template <class Grad>
void scatter_columns(const BuiltinCall& call, float* out, std::int64_t begin, std::int64_t end) {
  const auto* grad = reinterpret_cast<const Grad*>(call.data);
  const std::int64_t columns = call.num_columns;
  for (std::int64_t row = 0; row < call.num_rows; ++row) {
    std::fill(out + row * columns + begin, out + row * columns + end, 0.0f);
  }
  for (std::int64_t row = 0; row < call.num_indices; ++row) {
    float* to = out + call.index[row] * columns;
    const Grad* from = grad + row * columns;
    for (std::int64_t column = begin; column < end; ++column) to[column] += load(from + column);
  }
}

Status scatter_add_rows(BuiltinCall& call, device::Device& device) {
  DTJ_TRY(check_indices(call));
  const bool is_rounded = call.out_dtype == DType::bf16;
  float* sums = is_rounded ? call.sums.data() : reinterpret_cast<float*>(call.out);
  const auto body = [&](std::int64_t begin, std::int64_t end) {
    if (call.dtype == DType::f32) {
      scatter_columns<float>(call, sums, begin, end);
    } else {
      scatter_columns<std::uint16_t>(call, sums, begin, end);
    }
  };
  constexpr std::int64_t columns_per_grain = 64;
  device.parallel_for(call.num_columns, columns_per_grain, Range(std::ref(body)));
  if (!is_rounded) return {};
  auto* out = reinterpret_cast<std::uint16_t*>(call.out);
  const auto round = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = f32_to_bf16(sums[i]);
  };
  device.parallel_for(call.num_rows * call.num_columns, 16384, Range(std::ref(round)));
  return {};
}

template <class T>
void argmax_range(const BuiltinCall& call, std::int64_t begin, std::int64_t end) {
  auto* out = reinterpret_cast<std::int32_t*>(call.out);
  for (std::int64_t row = begin; row < end; ++row) {
    const T* x = reinterpret_cast<const T*>(call.data) + row * call.num_columns;
    std::int64_t best = 0;
    for (std::int64_t column = 1; column < call.num_columns; ++column) {
      if (load(x + column) > load(x + best)) best = column;
    }
    out[row] = static_cast<std::int32_t>(best);
  }
}

Status argmax_last(const BuiltinCall& call, device::Device& device) {
  const auto body = [&](std::int64_t begin, std::int64_t end) {
    if (call.dtype == DType::f32) {
      argmax_range<float>(call, begin, end);
    } else {
      argmax_range<std::uint16_t>(call, begin, end);
    }
  };
  device.parallel_for(call.num_rows, rows_per_grain(call.num_columns), Range(std::ref(body)));
  return {};
}

std::int64_t elements_of(const plan::Buffer& buffer) {
  return buffer.size / static_cast<std::int64_t>(size_of(buffer.dtype));
}

}  // namespace

BuiltinCall make_builtin_call(const plan::ExecutionPlan& plan, const plan::BuiltinStep& step,
                              const std::vector<std::byte*>& buffers) {
  const auto buffer = [&](std::size_t arg) -> const plan::Buffer& { return plan.buffers[step.args[arg].value]; };
  const auto data = [&](std::size_t arg) { return buffers[step.args[arg].value]; };
  BuiltinCall call;
  call.op = step.op;
  switch (step.op) {
    case plan::BuiltinOp::gather_rows:
      call.dtype = buffer(0).dtype;
      call.data = data(0);
      call.index = reinterpret_cast<const std::int32_t*>(data(1));
      call.out = data(2);
      call.num_indices = elements_of(buffer(1));
      call.num_rows = buffer(0).shape[0];
      call.num_columns = buffer(0).shape[1];
      break;
    case plan::BuiltinOp::scatter_add_rows:
      call.dtype = buffer(1).dtype;
      call.index = reinterpret_cast<const std::int32_t*>(data(0));
      call.data = data(1);
      call.out = data(2);
      call.num_indices = elements_of(buffer(0));
      call.num_rows = buffer(2).shape[0];
      call.num_columns = buffer(2).shape[1];
      if (buffer(2).dtype == DType::bf16) call.sums.resize(static_cast<std::size_t>(elements_of(buffer(2))));
      break;
    case plan::BuiltinOp::argmax_last:
      call.dtype = buffer(0).dtype;
      call.data = data(0);
      call.out = data(1);
      call.num_rows = elements_of(buffer(1));
      call.num_columns = buffer(0).shape.back();
      break;
  }
  call.out_dtype = buffer(step.args.size() - 1).dtype;
  return call;
}

Status run_builtin(BuiltinCall& call, device::Device& device) {
  switch (call.op) {
    case plan::BuiltinOp::gather_rows:
      return gather_rows(call, device);
    case plan::BuiltinOp::scatter_add_rows:
      return scatter_add_rows(call, device);
    case plan::BuiltinOp::argmax_last:
      return argmax_last(call, device);
  }
  return fail(ErrorCode::internal, "unknown builtin");
}

}  // namespace dtj::run
