#include "compiler/passes/passes.hpp"
#include "tests/support/ir_text.hpp"
#include "tests/support/random_graph.hpp"

using namespace dtj;

TEST_CASE("canonicalize: random graphs keep their bits", "[property][passes]") {
  constexpr test::InterpretOptions typed{test::Numerics::as_typed, 1};
  int num_simplified = 0;
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes = {{3, 5}, {1, 7}, {4, 1}, {1, 1}, {0, 3}, {3, 0}};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto [rows, columns] = sizes[seed % sizes.size()];
    const ir::Graph before = test::random_graph(seed, rows, columns, 40);
    ir::Graph after = before;
    num_simplified += passes::canonicalize(after, {}) ? 1 : 0;
    INFO("seed " << seed << "\n" << ir::print(before) << ir::print(after));
    REQUIRE(ir::verify(after).has_value());
    REQUIRE(after.nodes().size() <= before.nodes().size());
    const auto inputs = test::random_inputs(before, seed);
    const auto expected = test::interpret(before, inputs, typed), found = test::interpret(after, inputs, typed);
    REQUIRE(expected.size() == found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(found[i].type == expected[i].type);
      REQUIRE(found[i].values == expected[i].values);
    }
  }
  CHECK(num_simplified > 30);
}

TEST_CASE("canonicalize: a second run changes nothing", "[property][passes]") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    ir::Graph graph = test::random_graph(seed, 3, 5, 40);
    passes::canonicalize(graph, {});
    const std::string once = ir::print(graph);
    CHECK_FALSE(passes::canonicalize(graph, {}));
    CHECK(ir::print(graph) == once);
  }
}
