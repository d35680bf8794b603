#include "engine/data/sampler.hpp"

#include <fmt/format.h>

#include "engine/base/philox.hpp"
#include "engine/data/order.hpp"

namespace dtj::data {

Result<Sampler> Sampler::create(const DataSpec& spec, std::int64_t num_samples, std::int64_t dp) {
  if (spec.micro_batch < 1 || spec.global_batch != spec.micro_batch * spec.gradient_accumulation * dp) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("data `{}`: the global batch of {} samples is not micro batch {} x accumulation {} x {} "
                            "data-parallel ranks",
                            spec.name, spec.global_batch, spec.micro_batch, spec.gradient_accumulation, dp));
  }
  const bool pads = spec.sampler.last_batch == LastBatch::pad;
  Sampler sampler;
  sampler.kind_ = spec.sampler.kind;
  sampler.seed_ = spec.sampler.seed;
  sampler.num_samples_ = num_samples;
  sampler.dp_ = dp;
  sampler.global_batch_ = spec.global_batch;
  sampler.micro_batch_ = spec.micro_batch;
  sampler.num_micro_batches_ = spec.gradient_accumulation;
  sampler.steps_per_epoch_ = (num_samples + (pads ? spec.global_batch - 1 : 0)) / spec.global_batch;
  if (sampler.steps_per_epoch_ == 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("data `{}` is smaller than one global batch: {} samples, and the global batch is {}: make "
                            "`global_batch` smaller or take more data",
                            spec.name, num_samples, spec.global_batch));
  }
  return sampler;
}

std::optional<SampleId> Sampler::sample(std::int64_t epoch, std::int64_t position) const {
  if (position >= num_samples_) return std::nullopt;
  if (kind_ == SamplerKind::sequential) return SampleId{epoch, position};
  const auto index = permute(static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(num_samples_),
                             order_key(seed_, epoch, OrderStream::permutation));
  return SampleId{epoch, static_cast<std::int64_t>(index)};
}

}  // namespace dtj::data
