#include "compiler/check/contract.hpp"
#include "contract_support.hpp"
#include "tests/support/catch.hpp"

namespace dtj::check {
namespace {

using testing::stated;

LaunchDraft launch_of(std::int64_t nodes, std::int64_t ranks_per_node) {
  LaunchDraft launch;
  launch.nodes = stated(nodes, 10);
  launch.ranks_per_node = stated(ranks_per_node, 20);
  launch.world_size = stated(nodes * ranks_per_node, 10);
  launch.world_range = testing::somewhere(10);
  launch.world_arithmetic = std::to_string(nodes) + " * " + std::to_string(ranks_per_node);
  return launch;
}

MeshDraft mesh_of(std::int64_t dp) {
  MeshDraft mesh;
  mesh.dp = stated(dp, 40);
  mesh.tp.value = 1;
  mesh.pp.value = 1;
  mesh.range = mesh.dp.range;
  return mesh;
}

}  // namespace

TEST_CASE("contract: a mesh that matches the launch is kept", "[unit][check]") {
  diag::Sink sink;
  const auto mesh = check_mesh(launch_of(2, 4), mesh_of(8), sink);
  CHECK(mesh.presence == Presence::known);
  CHECK(mesh.value.dp == 8);
  CHECK(sink.sorted().empty());
}

TEST_CASE("contract: without `dp` the world size is data parallel", "[unit][check]") {
  diag::Sink sink;
  MeshDraft mesh = mesh_of(1);
  mesh.dp = {};
  mesh.range = {};
  CHECK(check_mesh(launch_of(2, 3), mesh, sink).value.dp == 6);
  CHECK(sink.sorted().empty());
}

TEST_CASE("contract: a mismatch shows both sides and the nearest valid values", "[unit][check]") {
  diag::Sink sink;
  const auto mesh = check_mesh(launch_of(4, 8), mesh_of(16), sink);
  CHECK(mesh.presence == Presence::unknown);
  REQUIRE(testing::kinds(sink) == std::vector{diag::Kind::world_size_mismatch});
  const diag::Diagnostic report = sink.sorted()[0];
  CHECK(report.range_label == "16 * 1 * 1 = 16");
  REQUIRE(report.labels.size() == 1);
  CHECK(report.labels[0].text == "4 * 8 = 32 ranks");
  CHECK(testing::help_of(sink) == "write `dp = 32`, or `nodes = 2`");
}

TEST_CASE("contract: on one node the ranks of the node are offered", "[unit][check]") {
  diag::Sink sink;
  check_mesh(launch_of(1, 2), mesh_of(3), sink);
  CHECK(testing::help_of(sink) == "write `dp = 2`, or `ranks_per_node = 3`");
}

TEST_CASE("contract: an unknown world size is silent and keeps the mesh", "[unit][check]") {
  diag::Sink sink;
  LaunchDraft launch = launch_of(1, 2);
  launch.world_size.presence = Presence::unknown;
  CHECK(check_mesh(launch, mesh_of(4), sink).value.dp == 4);
  CHECK(sink.sorted().empty());
}

}  // namespace dtj::check
