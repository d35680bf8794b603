#include "tests/support/ir_text.hpp"

using namespace dtj;
using ir::Op;

namespace {

std::string verify_error(const ir::Graph& graph) {
  const auto status = ir::verify(graph);
  return status ? "no error" : status.error().message;
}

ir::Graph with_input(ir::Type type) {
  ir::Graph graph;
  graph.add_input(std::move(type), ir::Port::plain, 0, "x");
  return graph;
}

std::shared_ptr<const ir::Graph> region(Op op, Shape shape) {
  ir::Graph inner = with_input({DType::f32, shape});
  const ir::NodeId node = inner.add_node(op, {inner.inputs()[0].value}, {{DType::f32, shape}}, {}, {});
  inner.add_output(inner.node(node).results[0], ir::Port::plain, 0, "y");
  return std::make_shared<const ir::Graph>(std::move(inner));
}

}  // namespace

TEST_CASE("verify: a sound graph passes", "[unit][ir]") {
  ir::Graph graph = with_input({DType::f32, {2}});
  graph.add_node(Op::fused, {ir::ValueId{0}}, {{DType::f32, {2}}}, {{}, 0, "row"}, {}, region(Op::exp, {2}));
  CHECK(verify_error(graph) == "no error");
}

TEST_CASE("verify: a declared type that is not the op's is named", "[unit][ir]") {
  ir::Graph graph = with_input({DType::f32, {2}});
  graph.add_node(Op::neg, {ir::ValueId{0}}, {{DType::f32, {3}}}, {}, {});
  CHECK(verify_error(graph) == "node 0 (neg): result is declared f32[3], is f32[2]");
}

TEST_CASE("verify: a wrong number of results is named", "[unit][ir]") {
  ir::Graph graph = with_input({DType::f32, {2}});
  graph.add_node(Op::all_reduce, {ir::ValueId{0}}, {{DType::f32, {2}}, {DType::f32, {2}}}, {{0}, 0, "dp"}, {});
  CHECK(verify_error(graph) == "node 0 (all_reduce): has 2 results, gives 1");
}

TEST_CASE("verify: an operand mistake carries the node as context", "[unit][ir]") {
  ir::Graph graph = with_input({DType::i32, {2}});
  graph.add_node(Op::exp, {ir::ValueId{0}}, {{DType::i32, {2}}}, {}, {});
  const auto status = ir::verify(graph);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().to_string() == "exp: i32[2] is not a float (node 0)");
  CHECK(status.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("verify: regions belong to fused nodes and fit them", "[unit][ir]") {
  ir::Graph no_region = with_input({DType::f32, {2}});
  no_region.add_node(Op::fused, {ir::ValueId{0}}, {{DType::f32, {2}}}, {}, {});
  CHECK(verify_error(no_region) == "node 0 (fused): has no region");

  ir::Graph other_shape = with_input({DType::f32, {2}});
  other_shape.add_node(Op::fused, {ir::ValueId{0}}, {{DType::f32, {2}}}, {}, {}, region(Op::exp, {3}));
  CHECK(verify_error(other_shape) == "node 0 (fused): the inputs of its region are not its operands");

  ir::Graph not_fused = with_input({DType::f32, {2}});
  not_fused.add_node(Op::neg, {ir::ValueId{0}}, {{DType::f32, {2}}}, {}, {}, region(Op::exp, {2}));
  CHECK(verify_error(not_fused) == "node 0 (neg): only a fused node has a region");

  ir::Graph broken_inside = with_input({DType::f32, {2}});
  ir::Graph inner = with_input({DType::f32, {2}});
  inner.add_node(Op::neg, {ir::ValueId{0}}, {{DType::f32, {9}}}, {}, {});
  inner.add_output(ir::ValueId{0}, ir::Port::plain, 0, "y");
  broken_inside.add_node(Op::fused, {ir::ValueId{0}}, {{DType::f32, {2}}}, {}, {},
                         std::make_shared<const ir::Graph>(inner));
  CHECK(verify_error(broken_inside) == "node 0 (neg): result is declared f32[9], is f32[2]");
}

TEST_CASE("verify: a port and index name one input and one output", "[unit][ir]") {
  ir::Graph inputs;
  inputs.add_input({DType::f32, {}}, ir::Port::param, 1, "a");
  inputs.add_input({DType::f32, {}}, ir::Port::param, 1, "b");
  CHECK(verify_error(inputs) == "two inputs are (param, 1)");

  ir::Graph outputs = with_input({DType::f32, {}});
  outputs.add_output(ir::ValueId{0}, ir::Port::metric, 0, "a");
  outputs.add_output(ir::ValueId{0}, ir::Port::metric, 0, "b");
  CHECK(verify_error(outputs) == "two outputs are (metric, 0)");
}
