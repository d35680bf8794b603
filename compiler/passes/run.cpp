#include <fmt/format.h>

#include <algorithm>

#include "compiler/passes/passes.hpp"

namespace dtj::passes {
namespace {

Status check_name(const std::string& name, bool allows_all) {
  const std::vector<std::string_view> names = pass_names();
  if (name.empty() || (allows_all && name == "all") || std::find(names.begin(), names.end(), name) != names.end())
    return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("there is no pass `{}`; passes are {}", name, fmt::join(names, ", ")));
}

Status verify_after(const ir::Graph& graph, std::string_view pass) {
  auto status = ir::verify(graph);
  if (status) return {};
  Error error = std::move(status.error());
  error.code = ErrorCode::internal;
  error.context.push_back(fmt::format("after pass {}", pass));
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Status run(ir::Graph& graph, Pipeline pipeline, const PassContext& ctx, const RunOptions& options) {
  DTJ_TRY(check_name(options.print_after, true));
  DTJ_TRY(check_name(options.stop_after, false));
  DTJ_TRY(verify_after(graph, "lower"));
  for (const Pass& pass : pass_list(pipeline)) {
    pass.run(graph, ctx);
    DTJ_TRY(verify_after(graph, pass.name));
    const bool prints = options.print_after == "all" || options.print_after == pass.name;
    if (prints && options.on_print) options.on_print(pass.name, ir::print(graph));
    if (options.stop_after == pass.name) break;
  }
  return {};
}

}  // namespace dtj::passes
