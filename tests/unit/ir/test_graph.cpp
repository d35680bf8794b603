#include <set>

#include "compiler/ir/text.hpp"
#include "tests/support/ir_text.hpp"

using namespace dtj;

TEST_CASE("ops: every name reads back", "[unit][ir]") {
  std::set<std::string> names;
  const auto check = [&](ir::Op op) {
    CHECK(ir::parse_op(ir::to_string(op)) == op);
    names.insert(std::string(ir::to_string(op)));
  };
#define DTJ_OP(name, category, num_operands) check(ir::Op::name);
#include "compiler/ir/ops.def"
#undef DTJ_OP
  CHECK(names.size() > 40);
  CHECK_FALSE(ir::parse_op("conv3d").has_value());
}

TEST_CASE("ops: the tables hold the row's category and operand count", "[unit][ir]") {
  CHECK(ir::category(ir::Op::matmul) == ir::OpCategory::contraction);
  CHECK(ir::num_operands(ir::Op::select) == 3);
  CHECK(ir::num_operands(ir::Op::concat) == -1);
  CHECK(ir::category(ir::Op::fused) == ir::OpCategory::fused);
}

TEST_CASE("ports: every name reads back", "[unit][ir]") {
  for (int i = 0; i <= static_cast<int>(ir::Port::gradient_norm); ++i) {
    const auto port = static_cast<ir::Port>(i);
    CHECK(ir::parse_port(ir::to_string(port)) == port);
  }
  CHECK_FALSE(ir::parse_port("weight").has_value());
}

TEST_CASE("graph: a value knows its producer and an input has none", "[unit][ir]") {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input({DType::f32, {2}}, ir::Port::plain, 0, "x");
  const ir::NodeId node = graph.add_node(ir::Op::neg, {x}, {{DType::f32, {2}}}, {}, {});
  CHECK_FALSE(graph.value(x).producer.has_value());
  CHECK(graph.value(graph.node(node).results[0]).producer == node);
  CHECK(graph.num_values() == 2);
}

TEST_CASE("structural_hash: ignores names and source ranges", "[unit][ir]") {
  const auto make = [](const std::string& name, source::Range range) {
    ir::Graph graph;
    graph.name = name;
    const ir::ValueId x = graph.add_input({DType::f32, {2}}, ir::Port::param, 0, name + "x");
    const ir::NodeId node = graph.add_node(ir::Op::exp, {x}, {{DType::f32, {2}}}, {}, range);
    graph.add_output(graph.node(node).results[0], ir::Port::metric, 0, name + "y");
    return ir::structural_hash(graph);
  };
  CHECK(make("a", {}) == make("b", source::Range::of({}, 3, 9)));
}

TEST_CASE("structural_hash: sees ops, types, attributes, ports and regions", "[unit][ir]") {
  const auto hash = [](const std::string& text) { return ir::structural_hash(test::graph_of(text)); };
  const std::string input = "%0 = input(param, 0, \"x\") : f32[2]\n";
  const std::string output = "output(metric, 0, \"y\") = %1\n";
  const auto base = hash(input + "%1 = exp(%0) : f32[2]\n" + output);
  CHECK(base != hash(input + "%1 = neg(%0) : f32[2]\n" + output));
  CHECK(base != hash("%0 = input(param, 1, \"x\") : f32[2]\n%1 = exp(%0) : f32[2]\n" + output));
  CHECK(base != hash("%0 = input(param, 0, \"x\") : f32[3]\n%1 = exp(%0) : f32[3]\n" + output));
  CHECK(base != hash(input + "%1 = exp(%0) : f32[2]\noutput(metric, 1, \"y\") = %1\n"));
  CHECK(hash(input + "%1 = slice(%0) {ints = [0, 1]} : f32[1]\n" + output) !=
        hash(input + "%1 = slice(%0) {ints = [1, 2]} : f32[1]\n" + output));
  const auto fused = [&](const std::string& op) {
    return hash(input +
                "%1 = fused(%0) {text = \"row\"} : f32[2] graph \"r\" { %0 = input(plain, 0, \"\") : f32[2]\n%1 = " +
                op + "(%0) : f32[2]\noutput(plain, 0, \"\") = %1\n}\n" + output);
  };
  CHECK(fused("exp") != fused("neg"));
}
