#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/codegen/jit_runner.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

/// All graphs of one size in one plan would hide which one is wrong: each is compiled by itself.
double worst_distance(std::uint64_t first_seed, int count, std::int64_t rows, std::int64_t columns, int num_nodes) {
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    INFO("seed " << seed << " shape " << rows << " x " << columns);
    const ir::Graph graph = random_graph(seed, rows, columns, num_nodes);
    const double distance = check_against_interpreter(graph, random_inputs(graph, seed));
    CHECK(distance <= 1e-5);
    worst = std::max(worst, distance);
  }
  return worst;
}

}  // namespace

TEST_CASE("random graphs: small matrices of odd shapes agree with the interpreter", "[property][codegen]") {
  CHECK(worst_distance(1000, 40, 3, 5, 8) <= 1e-5);
  CHECK(worst_distance(2000, 30, 1, 37, 10) <= 1e-5);
  CHECK(worst_distance(3000, 30, 17, 1, 10) <= 1e-5);
  CHECK(worst_distance(4000, 10, 0, 6, 8) <= 1e-5);
  CHECK(worst_distance(5000, 10, 6, 0, 8) <= 1e-5);
}

TEST_CASE("random graphs: matrices of several vectors agree with the interpreter", "[property][codegen]") {
  CHECK(worst_distance(6000, 40, 7, 67, 10) <= 1e-5);
  CHECK(worst_distance(7000, 30, 40, 64, 14) <= 1e-5);
  CHECK(worst_distance(8000, 10, 5, 33, 30) <= 1e-5);
}
