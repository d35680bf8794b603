#include <algorithm>

#include "compiler/passes/passes.hpp"
#include "tests/support/ir_text.hpp"

using namespace dtj;
using passes::Pipeline;

namespace {

ir::Graph objective() {
  return test::graph_of(
      "%0 = input(param, 0, \"w\") : f32[]\n%1 = stop_gradient(%0) : f32[]\n%2 = mul(%0, %1) : f32[]\noutput(metric, "
      "0, \"loss\") = %2\n");
}

struct Printed {
  Status status;
  std::vector<std::string> names;
  ir::Graph graph;
};

Printed run(Pipeline pipeline, const std::string& print_after, const std::string& stop_after) {
  Printed out;
  out.graph = objective();
  passes::RunOptions options{print_after, stop_after, [&](std::string_view pass, const std::string& text) {
                               CHECK(text.find("graph \"g\"") == 0);
                               out.names.emplace_back(pass);
                             }};
  passes::PassContext ctx;
  ctx.reduce_gradients = true;
  out.status = passes::run(out.graph, pipeline, ctx, options);
  return out;
}

}  // namespace

TEST_CASE("run: a training graph goes through the list in order", "[unit][passes]") {
  const Printed out = run(Pipeline::train_micro, "all", "parallel");
  REQUIRE(out.status.has_value());
  CHECK(out.names == std::vector<std::string>{"layout", "canonicalize", "autodiff", "strip_stop_gradient",
                                              "canonicalize", "accumulate", "parallel"});
  CHECK(out.graph.outputs().size() == 2);
}

TEST_CASE("run: other graphs skip autodiff and what follows from it", "[unit][passes]") {
  const Printed out = run(Pipeline::evaluate, "all", "canonicalize");
  REQUIRE(out.status.has_value());
  CHECK(out.names == std::vector<std::string>{"strip_stop_gradient", "layout", "canonicalize"});
  CHECK(out.graph.outputs().size() == 1);
  CHECK(out.graph.nodes().size() == 1);
}

TEST_CASE("run: prints after the named pass only, each time it runs", "[unit][passes]") {
  CHECK(run(Pipeline::train_micro, "canonicalize", "parallel").names ==
        std::vector<std::string>{"canonicalize", "canonicalize"});
  CHECK(run(Pipeline::train_micro, "", "parallel").names.empty());
}

TEST_CASE("run: stops at the first pass of the name", "[unit][passes]") {
  const Printed out = run(Pipeline::train_micro, "all", "canonicalize");
  CHECK(out.names == std::vector<std::string>{"layout", "canonicalize"});
  CHECK(out.graph.outputs().size() == 1);
}

TEST_CASE("run: an unknown pass is an error that names the known ones", "[unit][passes]") {
  const Printed out = run(Pipeline::train_micro, "cannonicalize", "");
  REQUIRE_FALSE(out.status.has_value());
  CHECK(out.status.error().code == ErrorCode::invalid_argument);
  CHECK(out.status.error().message ==
        "there is no pass `cannonicalize`; passes are layout, canonicalize, autodiff, strip_stop_gradient, "
        "accumulate, parallel, fusion");
  CHECK_FALSE(run(Pipeline::train_micro, "", "all").status.has_value());
}

TEST_CASE("run: a broken graph is an internal error with the pass named", "[unit][passes]") {
  ir::Graph graph = objective();
  graph.add_node(ir::Op::neg, {ir::ValueId{0}}, {{DType::f32, {9}}}, {}, {});
  const auto status = passes::run(graph, Pipeline::update, {}, {});
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::internal);
  CHECK(status.error().to_string().find("after pass lower") != std::string::npos);
}

TEST_CASE("run: every pass of every list has a name once", "[unit][passes]") {
  const auto names = passes::pass_names();
  for (const Pipeline pipeline : {Pipeline::train_micro, Pipeline::update, Pipeline::evaluate})
    for (const passes::Pass& pass : passes::pass_list(pipeline))
      CHECK(std::count(names.begin(), names.end(), pass.name) == 1);
}
