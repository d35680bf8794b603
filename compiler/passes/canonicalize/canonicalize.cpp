#include <cstring>
#include <gsl/gsl>
#include <string>
#include <unordered_map>

#include "compiler/passes/canonicalize/simplify.hpp"
#include "compiler/passes/graph_copy.hpp"
#include "compiler/passes/passes.hpp"

// Rounds of: rebuild the graph front to back with the rules and common subexpressions, then drop what no output needs.
// It ends when a round changes nothing.

namespace dtj::passes {

const ir::Node* Site::producer(ir::ValueId value) const {
  const auto id = build.graph().value(value).producer;
  return id ? &build.graph().node(*id) : nullptr;
}

const ir::Node* Site::producer(ir::ValueId value, ir::Op wanted) const {
  const ir::Node* node = producer(value);
  return node != nullptr && node->op == wanted ? node : nullptr;
}

std::optional<double> Site::splat(ir::ValueId value) const {
  const ir::Node* node = producer(value, ir::Op::constant);
  if (node == nullptr) return std::nullopt;
  return round_to(build.type(value).dtype, node->attrs.number);
}

namespace {

constexpr int max_rounds = 16;

template <class T>
void append(std::string& bytes, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Equal for nodes that compute the same bits. Empty: never merged.
std::string expression_key(const ir::Graph& graph, const ir::Node& node, const std::vector<ir::ValueId>& operands) {
  if (node.op == ir::Op::fused || node.op == ir::Op::all_reduce) return {};
  std::string key;
  append(key, node.op);
  append(key, operands.size());
  for (const ir::ValueId operand : operands) append(key, operand.value);
  append(key, graph.type(node.results[0]).dtype);
  append(key, graph.type(node.results[0]).shape.size());
  for (const std::int64_t extent : graph.type(node.results[0]).shape) append(key, extent);
  for (const std::int64_t value : node.attrs.ints) append(key, value);
  append(key, node.attrs.number);
  return key + node.attrs.text;
}

std::optional<ir::ValueId> simplify(const ir::Graph& from, const ir::Node& node, GraphCopy& copy, ir::Builder& build) {
  const ir::OpCategory category = ir::category(node.op);
  const bool is_arithmetic = category == ir::OpCategory::elementwise;
  if (!is_arithmetic && category != ir::OpCategory::movement && category != ir::OpCategory::reduce) return std::nullopt;
  const std::vector<ir::ValueId> operands = copy.at(node.operands);
  build.at(node.range);
  const Site site{build, node.op, operands, node.attrs, from.type(node.results[0])};
  return is_arithmetic ? simplify_arithmetic(site) : simplify_movement(site);
}

ir::Graph rebuild(const ir::Graph& from) {
  GraphCopy copy(from);
  ir::Builder build(copy.graph());
  std::unordered_map<std::string, ir::ValueId> known;
  for (const ir::Node& node : from.nodes()) {
    if (const auto simpler = simplify(from, node, copy, build)) {
      Ensures(copy.graph().type(*simpler) == from.type(node.results[0]));
      copy.set(node.results[0], *simpler);
      continue;
    }
    const std::string key = expression_key(from, node, copy.at(node.operands));
    const auto found = known.find(key);
    if (!key.empty() && found != known.end()) {
      copy.set(node.results[0], found->second);
      continue;
    }
    copy.copy_node(node);
    if (!key.empty()) known[key] = copy.at(node.results[0]);
  }
  copy.copy_outputs();
  return std::move(copy.graph());
}

ir::Graph drop_dead(const ir::Graph& from) {
  std::vector<bool> needed(from.num_values(), false);
  for (const ir::Output& output : from.outputs()) needed[output.value.value] = true;
  std::vector<bool> is_live(from.nodes().size(), false);
  for (std::size_t i = from.nodes().size(); i-- > 0;) {
    const ir::Node& node = from.nodes()[i];
    for (const ir::ValueId result : node.results) is_live[i] = is_live[i] || needed[result.value];
    if (!is_live[i]) continue;
    for (const ir::ValueId operand : node.operands) needed[operand.value] = true;
  }
  GraphCopy copy(from);
  for (std::size_t i = 0; i < from.nodes().size(); ++i)
    if (is_live[i]) copy.copy_node(from.nodes()[i]);
  copy.copy_outputs();
  return std::move(copy.graph());
}

}  // namespace

bool canonicalize(ir::Graph& graph, const PassContext&) {
  const std::uint64_t before = ir::structural_hash(graph);
  std::uint64_t last = before;
  for (int round = 0; round < max_rounds; ++round) {
    graph = drop_dead(rebuild(graph));
    const std::uint64_t now = ir::structural_hash(graph);
    if (now == last) break;
    last = now;
  }
  return last != before;
}

}  // namespace dtj::passes
