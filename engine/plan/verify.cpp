#include "engine/plan/verify.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "engine/plan/verify_steps.hpp"

namespace dtj::plan {
namespace {

constexpr std::int64_t alignment = 64;
constexpr std::int64_t max_arena_bytes = std::int64_t{1} << 46;

tl::unexpected<Error> bad(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

/// elements * size, or nothing when an extent is negative or the product leaves 64 bits.
std::optional<std::int64_t> bytes_of(const Shape& shape, DType dtype) {
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return std::nullopt;
    }
  }
  return is_empty ? 0 : bytes;
}

Status check_buffers(const ExecutionPlan& plan) {
  for (int arena = 0; arena < num_arenas; ++arena) {
    const std::int64_t bytes = plan.arena_bytes[arena];
    if (bytes < 0 || bytes > max_arena_bytes) {
      return bad(fmt::format("arena {} has {} bytes", to_string(static_cast<Arena>(arena)), bytes));
    }
  }
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    const auto bytes = bytes_of(buffer.shape, buffer.dtype);
    if (!bytes || *bytes != buffer.size) {
      return bad(fmt::format("buffer {} `{}`: {} bytes do not match {}{}", i, buffer.name, buffer.size,
                             to_string(buffer.dtype), to_string(buffer.shape)));
    }
    const std::int64_t arena_bytes = plan.arena_bytes[static_cast<int>(buffer.arena)];
    if (buffer.offset < 0 || buffer.offset > arena_bytes || buffer.size > arena_bytes - buffer.offset) {
      return bad(fmt::format("buffer {} `{}`: bytes {} + {} leave the {} arena of {} bytes", i, buffer.name,
                             buffer.offset, buffer.size, to_string(buffer.arena), arena_bytes));
    }
    if (buffer.offset % alignment != 0) {
      return bad(
          fmt::format("buffer {} `{}`: offset {} is not a multiple of {}", i, buffer.name, buffer.offset, alignment));
    }
  }
  return {};
}

Status check_init(const InitSpec& init, const std::string& name) {
  if (!std::isfinite(init.a) || !std::isfinite(init.b)) {
    return bad(fmt::format("tensor `{}`: its initial values are not finite", name));
  }
  if (init.kind == InitKind::uniform && init.a > init.b) {
    return bad(fmt::format("tensor `{}`: uniform from {} to {}", name, init.a, init.b));
  }
  if (init.kind == InitKind::normal && init.b < 0) {
    return bad(fmt::format("tensor `{}`: negative standard deviation {}", name, init.b));
  }
  return {};
}

/// Persistent tensors are saved one by one: two that share bytes or a name cannot be restored.
Status check_tensors(const ExecutionPlan& plan) {
  std::set<std::string_view> names;
  std::vector<const Buffer*> placed;
  for (const TensorSpec& tensor : plan.tensors) {
    if (tensor.buffer.value >= plan.buffers.size())
      return bad(fmt::format("tensor with buffer {}", tensor.buffer.value));
    const Buffer& buffer = plan.buffers[tensor.buffer.value];
    if (buffer.arena != Arena::persistent) {
      return bad(fmt::format("tensor `{}` lies in the {} arena", buffer.name, to_string(buffer.arena)));
    }
    if (!names.insert(buffer.name).second) return bad(fmt::format("two tensors named `{}`", buffer.name));
    DTJ_TRY(check_init(tensor.init, buffer.name));
    if (buffer.size > 0) placed.push_back(&buffer);
  }
  std::sort(placed.begin(), placed.end(), [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < placed.size(); ++i) {
    if (placed[i - 1]->offset + placed[i - 1]->size > placed[i]->offset) {
      return bad(fmt::format("tensors `{}` and `{}` overlap", placed[i - 1]->name, placed[i]->name));
    }
  }
  return {};
}

Status check_constants(const ExecutionPlan& plan) {
  if (plan.constants.size() != plan.constant_buffers.size()) {
    return bad(fmt::format("{} constants for {} buffers", plan.constants.size(), plan.constant_buffers.size()));
  }
  for (std::size_t i = 0; i < plan.constants.size(); ++i) {
    const BufferId id = plan.constant_buffers[i];
    if (id.value >= plan.buffers.size()) return bad(fmt::format("constant {} with buffer {}", i, id.value));
    const Buffer& buffer = plan.buffers[id.value];
    if (buffer.arena != Arena::constant || plan.constants[i].size() != static_cast<std::uint64_t>(buffer.size)) {
      return bad(fmt::format("constant {}: {} bytes for buffer `{}` of {} bytes in the {} arena", i,
                             plan.constants[i].size(), buffer.name, buffer.size, to_string(buffer.arena)));
    }
  }
  return {};
}

Status check_kernels(const ExecutionPlan& plan) {
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const Kernel& kernel = plan.kernels[i];
    if (kernel.symbol.empty()) return bad(fmt::format("kernel {} has no symbol", i));
    if (kernel.object >= plan.objects.size()) {
      return bad(fmt::format("kernel `{}` lies in object {} of {}", kernel.symbol, kernel.object, plan.objects.size()));
    }
  }
  return {};
}

Status check_collectives(const ExecutionPlan& plan) {
  const std::int64_t arena = plan.arena_bytes[static_cast<int>(Arena::gradient)];
  for (const Collective& collective : plan.collectives) {
    const auto element = static_cast<std::int64_t>(size_of(collective.dtype));
    const bool is_reducible = collective.dtype == DType::f32 || collective.dtype == DType::f64 ||
                              collective.dtype == DType::bf16 || collective.dtype == DType::i32 ||
                              collective.dtype == DType::i64;
    if (!is_reducible) {
      return bad(fmt::format("collective `{}` cannot sum {}", collective.name, to_string(collective.dtype)));
    }
    if (collective.offset < 0 || collective.offset % element != 0 || collective.count < 0 ||
        collective.offset > arena || collective.count > (arena - collective.offset) / element) {
      return bad(fmt::format("collective `{}`: {} x {} at byte {} leave the gradient arena of {} bytes",
                             collective.name, collective.count, to_string(collective.dtype), collective.offset, arena));
    }
    if (collective.axis != "dp" && collective.axis != "tp" && collective.axis != "pp") {
      return bad(fmt::format("collective `{}` over an unknown axis `{}`", collective.name, collective.axis));
    }
  }
  return {};
}

Status check_scalar(const ExecutionPlan& plan, BufferId id, DType dtype, std::string_view port) {
  if (id.value >= plan.buffers.size()) return bad(fmt::format("port {} has buffer {}", port, id.value));
  const Buffer& buffer = plan.buffers[id.value];
  if (buffer.dtype == dtype && buffer.size == static_cast<std::int64_t>(size_of(dtype))) return {};
  return bad(fmt::format("port {} is {}{}, expected one {}", port, to_string(buffer.dtype), to_string(buffer.shape),
                         to_string(dtype)));
}

Status check_batch(const ExecutionPlan& plan, const std::vector<BufferId>& ports, const DataSpec& data) {
  if (ports.size() != data.fields.size()) {
    return bad(
        fmt::format("{} batch buffers for the {} fields of data `{}`", ports.size(), data.fields.size(), data.name));
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const FieldSpec& field = data.fields[i];
    if (ports[i].value >= plan.buffers.size())
      return bad(fmt::format("field `{}` has buffer {}", field.name, ports[i].value));
    const Buffer& buffer = plan.buffers[ports[i].value];
    Shape shape{data.micro_batch};
    shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
    if (buffer.arena != Arena::batch || buffer.dtype != field.dtype || bytes_of(shape, field.dtype) != buffer.size) {
      return bad(fmt::format("field `{}` needs {}{} in the batch arena, its buffer is {}{} in the {} arena", field.name,
                             to_string(field.dtype), to_string(shape), to_string(buffer.dtype), to_string(buffer.shape),
                             to_string(buffer.arena)));
    }
  }
  return {};
}

Status check_ports(const ExecutionPlan& plan) {
  const Ports& ports = plan.ports;
  DTJ_TRY(check_batch(plan, ports.train_batch, plan.job.train_data));
  if (plan.job.eval_data) {
    DTJ_TRY(check_batch(plan, ports.eval_batch, *plan.job.eval_data));
  } else if (!ports.eval_batch.empty()) {
    return bad("evaluation buffers without evaluation data");
  }
  if (ports.train_metrics.size() != plan.job.metrics.size()) {
    return bad(fmt::format("{} metric buffers for {} metrics", ports.train_metrics.size(), plan.job.metrics.size()));
  }
  for (const BufferId id : ports.train_metrics) DTJ_TRY(check_scalar(plan, id, DType::f32, "train_metrics"));
  for (const BufferId id : ports.eval_metrics) DTJ_TRY(check_scalar(plan, id, DType::f32, "eval_metrics"));
  if (ports.step) DTJ_TRY(check_scalar(plan, *ports.step, DType::f64, "step"));
  if (ports.learning_rate) DTJ_TRY(check_scalar(plan, *ports.learning_rate, DType::f32, "learning_rate"));
  if (ports.sample) DTJ_TRY(check_scalar(plan, *ports.sample, DType::i64, "sample"));
  if (ports.gradient_norm) DTJ_TRY(check_scalar(plan, *ports.gradient_norm, DType::f32, "gradient_norm"));
  return {};
}

}  // namespace

Status verify(const ExecutionPlan& plan) {
  if (plan.format_version != plan_format_version) {
    return bad(fmt::format("format version {}, expected {}", plan.format_version, plan_format_version));
  }
  DTJ_TRY(verify_job(plan.job));
  DTJ_TRY(check_buffers(plan));
  DTJ_TRY(check_tensors(plan));
  DTJ_TRY(check_constants(plan));
  DTJ_TRY(check_kernels(plan));
  DTJ_TRY(check_collectives(plan));
  DTJ_TRY(check_ports(plan));
  for (const Program* program :
       {&plan.micro_only, &plan.micro_first, &plan.micro_middle, &plan.micro_last, &plan.update, &plan.evaluate}) {
    DTJ_TRY(verify_program(plan, *program));
  }
  return {};
}

}  // namespace dtj::plan
