#include <fmt/format.h>

#include "compiler/check/contract.hpp"

namespace dtj::check {
namespace {

std::string mesh_arithmetic(const MeshDraft& mesh) {
  return fmt::format("{} * {} * {} = {}", mesh.dp.value, mesh.tp.value, mesh.pp.value, mesh.dp.value * mesh.tp.value * mesh.pp.value);
}

/// The nearest valid contract: the mesh that the launch gives, and the launch that the mesh wants.
std::string nearest_contract(const LaunchDraft& launch, const MeshDraft& mesh, std::int64_t product) {
  const std::int64_t others = mesh.tp.value * mesh.pp.value;
  std::string help;
  if (launch.world_size.value % others == 0) help = fmt::format("write `dp = {}`", launch.world_size.value / others);
  const auto offer = [&](std::string_view key, std::int64_t other) {
    if (product % other != 0) return false;
    help += fmt::format("{}`{} = {}`", help.empty() ? "write " : ", or ", key, product / other);
    return true;
  };
  const bool is_one_key = launch.ranks_per_node.range.is_none || launch.world_arithmetic.find('*') == launch.world_arithmetic.rfind('*');
  if (launch.nodes.is_stated() && launch.nodes.value > 1 && offer("nodes", launch.ranks_per_node.value)) return help;
  if (is_one_key) offer("ranks_per_node", launch.nodes.value);
  return help;
}

}  // namespace

Stated<MeshSpec> check_mesh(const LaunchDraft& launch, const MeshDraft& mesh, diag::Sink& sink) {
  Stated<MeshSpec> spec;
  spec.range = mesh.range;
  spec.presence = Presence::unknown;
  if (!mesh.tp.is_known() || !mesh.pp.is_known() || mesh.tp.value != 1 || mesh.pp.value != 1) return spec;  // reported
  if (!mesh.dp.is_known()) return spec;
  if (!mesh.dp.is_stated()) {
    if (!launch.world_size.is_known()) return spec;
    spec.value.dp = launch.world_size.value;
    spec.presence = Presence::known;
    return spec;
  }
  spec.value = {mesh.dp.value, mesh.tp.value, mesh.pp.value};
  const std::int64_t product = mesh.dp.value * mesh.tp.value * mesh.pp.value;
  if (!launch.world_size.is_known() || product == launch.world_size.value) {
    spec.presence = Presence::known;
    return spec;
  }
  auto& report = sink.report({diag::Kind::world_size_mismatch, mesh.range, "the mesh does not match the launch contract"});
  report.under(mesh_arithmetic(mesh));
  report.label(launch.world_range, fmt::format("{} = {} ranks", launch.world_arithmetic, launch.world_size.value));
  if (!launch.world_elsewhere.is_none) report.label(launch.world_elsewhere, "a factor of the ranks");
  report.note("the product of the mesh axes is the number of ranks: nodes * ranks_per_node = dp * tp * pp");
  if (std::string help = nearest_contract(launch, mesh, product); !help.empty()) {
    report.help(std::move(help));
    const std::int64_t others = mesh.tp.value * mesh.pp.value;
    if (launch.world_size.value % others == 0) report.fix(mesh.dp.range, fmt::format("dp = {}", launch.world_size.value / others), diag::Applicability::maybe_incorrect);
  }
  return spec;
}

}  // namespace dtj::check
