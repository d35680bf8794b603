#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source.hpp"
#include "engine/base/dtype.hpp"
#include "engine/base/ids.hpp"
#include "engine/base/result.hpp"
#include "engine/base/shape.hpp"

// Graph IR: functional SSA over static shapes. A graph is a list of nodes in topological order.

namespace dtj::ir {

enum class Op : std::uint8_t {
#define DTJ_OP(name, category, num_operands) name,
#include "compiler/ir/ops.def"
#undef DTJ_OP
};

enum class OpCategory : std::uint8_t { leaf, elementwise, reduce, movement, contraction, indexing, collective, fused };

std::string_view to_string(Op op);
std::optional<Op> parse_op(std::string_view name);
OpCategory category(Op op);
int num_operands(Op op);  ///< -1: any number

struct Type {
  DType dtype = DType::f32;
  Shape shape;

  friend bool operator==(const Type& a, const Type& b) { return a.dtype == b.dtype && a.shape == b.shape; }
  friend bool operator!=(const Type& a, const Type& b) { return !(a == b); }
};

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

struct Attrs {
  std::vector<std::int64_t> ints;
  double number = 0;
  std::string text;

  friend bool operator==(const Attrs& a, const Attrs& b) {
    return a.ints == b.ints && a.number == b.number && a.text == b.text;
  }
};

class Graph;

struct Node {
  Op op = Op::constant;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attrs attrs;
  source::Range range;
  std::shared_ptr<const Graph> region;  ///< for Op::fused: its inputs are the operands, its outputs the results
};

struct Value {
  Type type;
  std::optional<NodeId> producer;  ///< none: a graph input
};

/// What an input or output of a whole program is; regions use `plain`.
enum class Port : std::uint8_t {
  plain, param, state, gradient, batch, step, metric, learning_rate, gradient_norm,
  buffer,  ///< of a module: read by the objective, and written while training
  sample   ///< i64[]: how many samples the training has taken before the first one of this micro batch
};

struct Input {
  ValueId value;
  Port port = Port::plain;
  std::uint32_t index = 0;  ///< among inputs of this port: parameter number, field number, ...
  std::string name;
};

struct Output {
  ValueId value;
  Port port = Port::plain;
  std::uint32_t index = 0;
  std::string name;
};

class Graph {
 public:
  std::string name;

  ValueId add_input(Type type, Port port, std::uint32_t index, std::string name);
  void add_output(ValueId value, Port port, std::uint32_t index, std::string name);
  /// Appends; the operands must exist already. The result types must follow the op's rule (`verify` checks).
  NodeId add_node(Op op, std::vector<ValueId> operands, std::vector<Type> results, Attrs attrs, source::Range range,
                  std::shared_ptr<const Graph> region = nullptr);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id.value]; }
  const Value& value(ValueId id) const { return values_[id.value]; }
  const Type& type(ValueId id) const { return values_[id.value].type; }
  std::size_t num_values() const { return values_.size(); }
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

/// The result type of an op, or what is wrong with its operands. `wanted` is the declared result for ops whose type is not
/// implied (constant, iota, cast, broadcast, reshape, matmul's dtype, fused).
Result<std::vector<Type>> infer(Op op, const std::vector<Type>& operands, const Attrs& attrs, const std::vector<Type>& wanted);

/// Topological order, operand and result types, regions. invalid_argument names the node.
Status verify(const Graph& graph);

/// "%3 = add(%1, %2) : f32[4, 8]", one node a line; inputs and outputs with their ports; regions indented.
std::string print(const Graph& graph);
/// Reads what `print` writes. Ranges are lost. Errors: invalid_argument with the line.
Result<Graph> parse(std::string_view text);

/// Of structure, types and attributes; equal for graphs that print the same apart from names.
std::uint64_t structural_hash(const Graph& graph);

/// Short spellings for building graphs; each checks its operands and infers the result (a mistake is a broken precondition).
class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}
  void at(source::Range range) { range_ = range; }

  ValueId constant(Type type, double number);
  ValueId iota(Type type, std::int64_t axis);
  ValueId unary(Op op, ValueId x);
  ValueId binary(Op op, ValueId a, ValueId b);  ///< same shapes and dtypes
  ValueId select(ValueId condition, ValueId a, ValueId b);
  ValueId cast(ValueId x, DType dtype);         ///< x itself if it has the dtype
  ValueId reduce(Op op, ValueId x, std::vector<std::int64_t> axes);
  ValueId broadcast(ValueId x, Shape shape);    ///< x itself if it has the shape; prepends dims of extent 1 as needed
  ValueId reshape(ValueId x, Shape shape);
  ValueId transpose(ValueId x, std::vector<std::int64_t> permutation);
  ValueId slice(ValueId x, std::vector<std::int64_t> begin_end);
  ValueId pad(ValueId x, std::vector<std::int64_t> before_after);
  ValueId concat(std::vector<ValueId> parts, std::int64_t axis);
  ValueId windows(ValueId x, std::vector<std::int64_t> axis_size_stride);
  ValueId fold(ValueId x, std::vector<std::int64_t> axis_size_stride_extent);
  ValueId random(ValueId counter, std::int64_t seed, std::int64_t stream);
  ValueId matmul(ValueId a, ValueId b, bool trans_a, bool trans_b, DType result);
  ValueId gather_rows(ValueId table, ValueId index);
  ValueId scatter_add_rows(ValueId index, ValueId rows, std::int64_t num_rows);
  ValueId argmax_last(ValueId x);
  std::vector<ValueId> all_reduce(std::vector<ValueId> xs, std::string axis, std::int64_t bucket);

  const Type& type(ValueId id) const { return graph_.type(id); }
  Graph& graph() { return graph_; }

 private:
  ValueId emit(Op op, std::vector<ValueId> operands, std::vector<Type> wanted, Attrs attrs);
  Graph& graph_;
  source::Range range_;
};

}  // namespace dtj::ir
