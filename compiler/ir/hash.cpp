#include "engine/base/hash.hpp"

#include <cstring>
#include <unordered_map>

#include "compiler/ir/graph.hpp"

namespace dtj::ir {
namespace {

/// Everything that decides what a graph computes, as bytes; values are numbered as they appear.
class Serializer {
 public:
  std::string bytes;

  void add(const Graph& graph) {
    add_count(graph.inputs().size());
    for (const Input& input : graph.inputs()) {
      add_port(input.port, input.index);
      define(graph, input.value);
    }
    add_count(graph.nodes().size());
    for (const Node& node : graph.nodes()) add_node(graph, node);
    add_count(graph.outputs().size());
    for (const Output& output : graph.outputs()) {
      add_port(output.port, output.index);
      add_int(numbers_.at(output.value));
    }
  }

 private:
  void add_int(std::int64_t value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add_count(std::size_t count) { add_int(static_cast<std::int64_t>(count)); }
  void add_port(Port port, std::uint32_t index) {
    add_int(static_cast<std::int64_t>(port));
    add_int(index);
  }
  void define(const Graph& graph, ValueId value) {
    const auto number = static_cast<std::int64_t>(numbers_.size());
    numbers_[value] = number;
    const Type& type = graph.type(value);
    add_int(static_cast<std::int64_t>(type.dtype));
    add_count(type.shape.size());
    for (const std::int64_t extent : type.shape) add_int(extent);
  }
  void add_node(const Graph& graph, const Node& node) {
    add_int(static_cast<std::int64_t>(node.op));
    add_count(node.operands.size());
    for (const ValueId operand : node.operands) add_int(numbers_.at(operand));
    add_count(node.results.size());
    for (const ValueId result : node.results) define(graph, result);
    add_count(node.attrs.ints.size());
    for (const std::int64_t value : node.attrs.ints) add_int(value);
    std::int64_t number_bits = 0;
    std::memcpy(&number_bits, &node.attrs.number, sizeof number_bits);
    add_int(number_bits);
    add_count(node.attrs.text.size());
    bytes += node.attrs.text;
    add_int(node.region ? 1 : 0);
    if (!node.region) return;
    Serializer region;
    region.add(*node.region);
    bytes += region.bytes;
  }

  std::unordered_map<ValueId, std::int64_t> numbers_;
};

}  // namespace

std::uint64_t structural_hash(const Graph& graph) {
  Serializer serializer;
  serializer.add(graph);
  return hash64(serializer.bytes);
}

}  // namespace dtj::ir
