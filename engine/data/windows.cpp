#include "engine/data/windows.hpp"

#include <gsl/assert>

#include "engine/data/order.hpp"

namespace dtj::data {

Windows::Windows(const DataSpec& spec)
    : seq_(spec.seq),
      max_offset_(spec.sampler.kind == SamplerKind::shuffle ? spec.seq - 1 : 0),
      seed_(spec.sampler.seed) {
  Expects(seq_ > 0);
}

std::int64_t Windows::offset(std::int64_t epoch) const {
  if (max_offset_ == 0) return 0;
  return static_cast<std::int64_t>(order_key(seed_, epoch, OrderStream::window_offset) %
                                   static_cast<std::uint64_t>(max_offset_ + 1));
}

std::int64_t Windows::num_windows(std::int64_t num_tokens) const {
  return num_tokens < min_tokens() ? 0 : (num_tokens - 1 - max_offset_) / seq_;
}

}  // namespace dtj::data
