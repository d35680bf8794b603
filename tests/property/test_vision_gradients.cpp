#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compiler/check/check.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/lower/lower.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/property/gradient_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"

// The layers of std.vision, as a job uses them: through autodiff alone and through the whole list up to fusion. The image
// is a parameter here, so that its gradient is checked too.

using namespace dtj;

namespace {

/// The lowered objective of a job whose model is `image |> expression`; `subs` declares its layers.
ir::Graph objective_of(const std::string& shape, const std::string& subs, const std::string& expression) {
  const std::string text = fmt::format(R"(dtj 1;
import std.nn.{{Dropout}};
import std.vision;
import std.vision.{{Conv2d, BatchNorm2d, GroupNorm, BasicBlock, max_pool2d, avg_pool2d, global_avg_pool2d}};
import std.optim.{{SGD, constant_lr}};
import std.data.{{idx_images}};
module Model() {{
  param image: par[{}] = zeros();
  {}
  fn forward(x: act[B, 1, 2, 2]) -> act[..L] {{ (image as act[{}]) |> {} }}
}}
job gradients {{
  launch {{ method = local; nodes = 1; ranks_per_node = 1; device = cpu; }}
  mesh {{ dp = 1; }}
  seed = 5;
  model = Model();
  data train {{ source = idx_images("unused", height = 2, width = 2); global_batch = 2sample; sampler = shuffle(seed = 1); }}
  fn objective(m, batch) {{
    let y = m(batch.image) |> flatten;
    {{loss = sum(y * cos(0.75 * (iota(size(y, 0)) as f32)))}}
  }}
  optimizer = SGD(lr = constant_lr(0.1));
  train {{ stop = 1step; }}
}}
)",
                                       shape, subs, shape, expression);
  source::SourceManager sources;
  diag::Sink sink;
  const auto file = parse::parse(sources.file(sources.add("gradients.dtj", text)), sink);
  std::optional<check::CheckedJob> job;
  if (file && !sink.has_errors()) job = check::check(*file, sources, {}, sink);
  INFO(diag::render_text(sink.sorted(), sources, {}));
  REQUIRE(job.has_value());
  return lower::lower(*job).objective;
}

/// Values that differ by far more than the step of the differences, in a mixed order: no maximum changes hands.
test::Tensor spread_out(const ir::Type& type) {
  test::Tensor tensor = test::random_tensor(type, 9);
  const auto size = static_cast<std::int64_t>(tensor.values.size());
  for (std::int64_t i = 0; i < size; ++i)
    tensor.values[static_cast<std::size_t>(i)] = 0.05 * static_cast<double>((i * 37 + 11) % size) - 1.0;
  return tensor;
}

void check_layer(const std::string& shape, const std::string& subs, const std::string& expression,
                 bool spreads_out = false) {
  INFO(subs << " " << expression);
  const ir::Graph objective = objective_of(shape, subs, expression);
  std::vector<test::Tensor> inputs = test::random_inputs(objective, 21);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Input& input = objective.inputs()[i];
    if (input.port == ir::Port::param && input.name == "image" && spreads_out) inputs[i] = spread_out(inputs[i].type);
    if (input.port == ir::Port::sample) inputs[i].values = {12345};
  }
  for (const bool whole_list : {false, true}) {
    test::GradientCheckOptions options;
    options.whole_list = whole_list;
    test::check_gradients(objective, inputs, options);
  }
}

}  // namespace

TEST_CASE("std.vision: gradients of convolutions agree with central differences", "[property][vision]") {
  check_layer("2, 3, 5, 6", "sub conv = Conv2d(3, 4, k = 3, pad = 1);", "conv");
  check_layer("2, 2, 6, 5", "sub conv = Conv2d(2, 3, k = 3, stride = 2, pad = 1, bias = false);", "conv");
  check_layer("2, 4, 5, 5", "sub conv = Conv2d(4, 6, k = 3, stride = 2, groups = 2);", "conv |> tanh");
  check_layer("2, 3, 4, 4", "sub conv = Conv2d(3, 3, k = 2, groups = 3);", "conv");
  check_layer("2, 3, 5, 5", "sub conv = Conv2d(3, 2, k = 1, stride = 2);", "conv");
  check_layer("2, 2, 4, 4", "sub a = Conv2d(2, 3, k = 3, pad = 1); sub b = Conv2d(3, 2, k = 2, stride = 2);", "a |> tanh |> b");
}

TEST_CASE("std.vision: gradients of pools agree with central differences", "[property][vision]") {
  check_layer("2, 2, 6, 6", "", "max_pool2d(k = 2)", true);
  check_layer("2, 2, 7, 6", "", "max_pool2d(k = 3, stride = 2, pad = 1)", true);
  check_layer("2, 2, 5, 5", "", "max_pool2d(k = 3, stride = 1)", true);
  check_layer("2, 2, 6, 5", "", "avg_pool2d(k = 2)");
  check_layer("2, 2, 6, 5", "", "avg_pool2d(k = 3, stride = 2, pad = 1)");
  check_layer("2, 3, 3, 4", "", "global_avg_pool2d");
}

TEST_CASE("std.vision: gradients of normalisations agree with central differences", "[property][vision]") {
  check_layer("2, 3, 3, 4", "sub bn = BatchNorm2d(3);", "bn");
  check_layer("2, 4, 3, 3", "sub gn = GroupNorm(2, 4);", "gn");
  check_layer("2, 2, 4, 4", "sub conv = Conv2d(2, 3, k = 3, pad = 1); sub bn = BatchNorm2d(3);", "conv |> bn |> tanh");
}

TEST_CASE("std.nn: the gradient of dropout agrees with central differences", "[property][vision]") {
  check_layer("2, 3, 4, 5", "sub drop = Dropout(0.5);", "drop |> tanh");
}

TEST_CASE("max_pool2d: of equal values the first takes the gradient", "[property][vision]") {
  const ir::Graph objective = objective_of("2, 1, 4, 4", "", "max_pool2d(k = 2)");
  std::vector<test::Tensor> inputs = test::random_inputs(objective, 21);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (objective.inputs()[i].name == "image") std::fill(inputs[i].values.begin(), inputs[i].values.end(), 0.5);
  ir::Graph graph = objective;
  REQUIRE(passes::run(graph, passes::Pipeline::train_micro, {}, {"", "parallel", {}}));
  const auto outputs = test::interpret(graph, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (graph.outputs()[i].port != ir::Port::gradient) continue;
    for (std::size_t k = 0; k < outputs[i].values.size(); ++k) {
      const bool is_first = k % 2 == 0 && k / 4 % 2 == 0;
      CHECK((outputs[i].values[k] != 0) == is_first);
    }
  }
}
