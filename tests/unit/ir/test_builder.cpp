#include "tests/support/ir_text.hpp"

using namespace dtj;
using ir::Op;

TEST_CASE("builder: broadcast prepends dims and leaves equal shapes alone", "[unit][ir]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {3}}, ir::Port::plain, 0, "x");
  CHECK(b.broadcast(x, {3}) == x);
  const ir::ValueId y = b.broadcast(x, {2, 4, 3});
  CHECK(b.type(y) == ir::Type{DType::f32, {2, 4, 3}});
  REQUIRE(graph.nodes().size() == 2);
  CHECK(graph.nodes()[0].op == Op::reshape);
  CHECK(graph.nodes()[1].op == Op::broadcast);
}

TEST_CASE("builder: cast to the own dtype and reduce over no axes are the value itself", "[unit][ir]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {3}}, ir::Port::plain, 0, "x");
  CHECK(b.cast(x, DType::f32) == x);
  CHECK(b.reduce(Op::reduce_sum, x, {}) == x);
  CHECK(b.type(b.cast(x, DType::bf16)).dtype == DType::bf16);
}

TEST_CASE("builder: reduction axes are sorted", "[unit][ir]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {3, 4, 5}}, ir::Port::plain, 0, "x");
  CHECK(b.type(b.reduce(Op::reduce_max, x, {2, 0})).shape == Shape{1, 4, 1});
  CHECK(ir::verify(graph).has_value());
}

TEST_CASE("builder: nodes carry the range in force", "[unit][ir]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {3}}, ir::Port::plain, 0, "x");
  b.at(source::Range::of({}, 5, 9));
  b.unary(Op::neg, x);
  CHECK(graph.nodes()[0].range.begin == 5);
  CHECK(graph.nodes()[0].range.end == 9);
}

TEST_CASE("builder: all_reduce gives one result per operand", "[unit][ir]") {
  ir::Graph graph;
  ir::Builder b(graph);
  const ir::ValueId x = graph.add_input({DType::f32, {3}}, ir::Port::plain, 0, "x");
  const ir::ValueId y = graph.add_input({DType::f32, {}}, ir::Port::plain, 1, "y");
  const auto reduced = b.all_reduce({x, y}, "dp", 4);
  REQUIRE(reduced.size() == 2);
  CHECK(b.type(reduced[0]).shape == Shape{3});
  CHECK(b.type(reduced[1]).shape.empty());
  CHECK(graph.nodes()[0].attrs.ints == std::vector<std::int64_t>{4});
}
