#include "engine/comm/group/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "engine/comm/group/tree_sum.hpp"

namespace dtj::comm::group {
namespace {

/// Ranks write whole cache lines of the result, so that no two share one.
constexpr std::int64_t segment_elements = 64;

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

bool stages_all_slices(Op op) {
  return op == Op::reduce_scatter || op == Op::all_to_all;
}

}  // namespace

void Transfer::set_chunks(std::int64_t staging_bytes) {
  chunk = 0;
  chunk_elements = std::max<std::int64_t>(count, 1);
  if (!is_staged) return;
  const std::int64_t slices = stages_all_slices(op) ? static_cast<std::int64_t>(peers.size()) : 1;
  chunk_elements = std::min(chunk_elements, staging_bytes / (bytes(1) * slices));
}

std::int64_t Transfer::num_chunks() const {
  return std::max<std::int64_t>(1, (count + chunk_elements - 1) / chunk_elements);
}

std::int64_t Transfer::size() const {
  return std::min(chunk_elements, count - begin());
}

void Transfer::load_staging() const {
  std::byte* staging = peers[me];
  switch (op) {
    case Op::barrier:
      return;
    case Op::all_reduce:
      return copy_bytes(staging, send + bytes(begin()), bytes(size()));
    case Op::all_gather:
      return copy_bytes(staging, send + bytes(static_cast<std::int64_t>(me) * count + begin()), bytes(size()));
    case Op::broadcast:
    case Op::send_recv:
      if (me == root) copy_bytes(staging, send + bytes(begin()), bytes(size()));
      return;
    case Op::reduce_scatter:
    case Op::all_to_all:
      for (std::int64_t slice = 0; slice < static_cast<std::int64_t>(peers.size()); ++slice) {
        copy_bytes(staging + bytes(slice * size()), send + bytes(slice * count + begin()), bytes(size()));
      }
      return;
  }
}

void Transfer::work() {
  switch (op) {
    case Op::barrier:
      return;
    case Op::all_reduce:
      return all_reduce();
    case Op::reduce_scatter:
      return reduce_scatter();
    case Op::all_gather:
      return all_gather();
    case Op::all_to_all:
      return all_to_all();
    case Op::broadcast:
    case Op::send_recv:
      return spread(root);
  }
}

void Transfer::unload_staging() const {
  if (op == Op::all_reduce) copy_bytes(recv + bytes(begin()), peers[me], bytes(size()));
}

void Transfer::all_reduce() {
  // Nobody else reads or writes this rank's segment, so the sum goes straight to all of them.
  const auto num = static_cast<std::int64_t>(peers.size());
  const std::int64_t per_rank = (size() + num * segment_elements - 1) / (num * segment_elements) * segment_elements;
  const std::int64_t first = std::min(size(), static_cast<std::int64_t>(me) * per_rank);
  const std::int64_t last = std::min(size(), first + per_rank);
  const std::int64_t at = bytes(first + (is_staged ? 0 : begin()));
  sources_.clear();
  outs_.clear();
  for (std::byte* peer : peers) {
    sources_.push_back(peer + at);
    outs_.push_back(peer + at);
  }
  tree_sum(sources_, outs_, last - first, dtype);
}

void Transfer::reduce_scatter() {
  const auto slice = static_cast<std::int64_t>(me);
  const std::int64_t at = bytes(is_staged ? slice * size() : slice * count + begin());
  sources_.clear();
  for (const std::byte* peer : peers) sources_.push_back(peer + at);
  outs_.assign(1, recv + bytes(slice * count + begin()));
  tree_sum(sources_, outs_, size(), dtype);
}

void Transfer::all_gather() const {
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    if (peer == me) continue;
    const std::int64_t at = bytes(static_cast<std::int64_t>(peer) * count + begin());
    copy_bytes(recv + at, is_staged ? peers[peer] : peers[peer] + at, bytes(size()));
  }
}

void Transfer::all_to_all() const {
  const auto mine = static_cast<std::int64_t>(me);
  const std::int64_t at = bytes(is_staged ? mine * size() : mine * count + begin());
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    copy_bytes(recv + bytes(static_cast<std::int64_t>(peer) * count + begin()), peers[peer] + at, bytes(size()));
  }
}

void Transfer::spread(std::size_t from) const {
  if (me == from) return;
  const std::byte* data = is_staged ? peers[from] : peers[from] + bytes(begin());
  copy_bytes(recv + bytes(begin()), data, bytes(size()));
}

}  // namespace dtj::comm::group
