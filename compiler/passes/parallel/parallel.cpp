#include <algorithm>
#include <tuple>

#include "compiler/passes/graph_copy.hpp"
#include "compiler/passes/passes.hpp"

// Data parallelism: the gradients are summed over dp in buckets. A bucket closes when it is large enough, and its
// all_reduce stands right behind the last of its producers, so that it overlaps with the rest of backward.

namespace dtj::passes {
namespace {

struct Bucket {
  std::vector<std::size_t> outputs;  ///< indices into the graph's outputs
  std::int64_t ready_at = -1;        ///< position of the node that completes it; -1: complete from the start
};

/// The outputs of one port in the order in which the program completes them.
std::vector<std::size_t> in_order_of_completion(const ir::Graph& graph, ir::Port port) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    if (graph.outputs()[i].port == port) order.push_back(i);
  const auto key = [&](std::size_t i) {
    return std::make_tuple(producer_position(graph, graph.outputs()[i].value), graph.outputs()[i].index);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

void put(const ir::Graph& graph, Bucket& bucket, std::size_t output) {
  bucket.outputs.push_back(output);
  bucket.ready_at = std::max(bucket.ready_at, producer_position(graph, graph.outputs()[output].value));
}

std::vector<Bucket> make_buckets(const ir::Graph& graph, std::int64_t bucket_bytes) {
  std::vector<Bucket> buckets;
  std::int64_t bytes = bucket_bytes;
  for (const std::size_t output : in_order_of_completion(graph, ir::Port::gradient)) {
    if (bytes >= bucket_bytes) {
      buckets.emplace_back();
      bytes = 0;
    }
    put(graph, buckets.back(), output);
    const ir::Type& type = graph.type(graph.outputs()[output].value);
    bytes += num_elements(type.shape) * static_cast<std::int64_t>(size_of(type.dtype));
  }
  Bucket metrics;
  for (const std::size_t output : in_order_of_completion(graph, ir::Port::metric)) put(graph, metrics, output);
  if (!metrics.outputs.empty()) buckets.push_back(std::move(metrics));
  return buckets;
}

}  // namespace

bool parallel(ir::Graph& graph, const PassContext& ctx) {
  if (!ctx.reduce_gradients) return false;
  const std::vector<Bucket> buckets = make_buckets(graph, ctx.bucket_bytes);
  if (buckets.empty()) return false;

  GraphCopy copy(graph);
  ir::Builder build(copy.graph());
  std::vector<std::optional<ir::ValueId>> reduced(graph.outputs().size());
  const auto reduce_ready = [&](std::int64_t position) {
    for (std::size_t number = 0; number < buckets.size(); ++number) {
      const Bucket& bucket = buckets[number];
      if (bucket.ready_at != position) continue;
      std::vector<ir::ValueId> operands;
      for (const std::size_t output : bucket.outputs) operands.push_back(copy.at(graph.outputs()[output].value));
      const auto results = build.all_reduce(std::move(operands), "dp", static_cast<std::int64_t>(number));
      for (std::size_t i = 0; i < results.size(); ++i) reduced[bucket.outputs[i]] = results[i];
    }
  };
  reduce_ready(-1);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    copy.copy_node(graph.nodes()[i]);
    reduce_ready(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const ir::Output& output = graph.outputs()[i];
    copy.graph().add_output(reduced[i] ? *reduced[i] : copy.at(output.value), output.port, output.index, output.name);
  }
  graph = std::move(copy.graph());
  return true;
}

}  // namespace dtj::passes
