#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/lower/trace_builder.hpp"

using namespace dtj;
using namespace dtj::test;
using check::TraceOp;

TEST_CASE("elementwise: operands broadcast to the right", "[unit][lower]") {
  TraceBuilder trace;
  const auto a = trace.input(DType::f32, {2, 3});
  const auto b = trace.input(DType::f32, {3});
  const auto result = evaluate(trace.lower(trace.push(TraceOp::sub, {a, b}, DType::f32, {2, 3})),
                               {counting({2, 3}), tensor({3}, {1, 1, 2})});
  CHECK(result.values == std::vector<double>{0, 1, 1, 3, 4, 4});
}

TEST_CASE("elementwise: dims of extent 1 grow on both sides", "[unit][lower]") {
  TraceBuilder trace;
  const auto a = trace.input(DType::f32, {2, 1});
  const auto b = trace.input(DType::f32, {1, 2});
  const auto graph = trace.lower(trace.push(TraceOp::lt, {a, b}, DType::boolean, {2, 2}));
  const auto result = evaluate(graph, {tensor({2, 1}, {1, 2}), tensor({1, 2}, {1, 2})});
  CHECK(result.type.dtype == DType::boolean);
  CHECK(result.values == std::vector<double>{0, 1, 0, 0});
}

TEST_CASE("where: condition and both branches broadcast", "[unit][lower]") {
  TraceBuilder trace;
  const auto condition = trace.input(DType::boolean, {2, 1});
  const auto a = trace.input(DType::f32, {2});
  const auto b = trace.push(TraceOp::constant, {}, DType::f32, {});
  trace.at(b).number = 9;
  const auto result = evaluate(trace.lower(trace.push(TraceOp::where, {condition, a, b}, DType::f32, {2, 2})),
                               {tensor({2, 1}, {1, 0}, DType::boolean), tensor({2}, {3, 4})});
  CHECK(result.values == std::vector<double>{3, 4, 9, 9});
}

TEST_CASE("reductions: sum, mean, max and min over some axes, with and without keep", "[unit][lower]") {
  struct Case {
    TraceOp op;
    std::vector<double> expected;
  };
  // Over axes 0 and 2 of 1..12 as [2, 3, 2].
  const auto c = GENERATE(values<Case>({{TraceOp::sum, {1 + 2 + 7 + 8, 3 + 4 + 9 + 10, 5 + 6 + 11 + 12}},
                                        {TraceOp::mean, {4.5, 6.5, 8.5}},
                                        {TraceOp::max, {8, 10, 12}},
                                        {TraceOp::min, {1, 3, 5}}}));
  const bool keep = GENERATE(false, true);
  TraceBuilder trace;
  const auto x = trace.input(DType::f32, {2, 3, 2});
  const Shape shape = keep ? Shape{1, 3, 1} : Shape{3};
  const auto reduced = trace.push(c.op, {x}, DType::f32, shape, {0, 2});
  trace.at(reduced).flag = keep;
  const auto result = evaluate(trace.lower(reduced), {counting({2, 3, 2})});
  CHECK(result.type.shape == shape);
  CHECK(result.values == c.expected);
}

TEST_CASE("reductions: of all dims to a scalar", "[unit][lower]") {
  TraceBuilder trace;
  const auto x = trace.input(DType::f32, {2, 3});
  const auto result = evaluate(trace.lower(trace.push(TraceOp::mean, {x}, DType::f32, {}, {0, 1})), {counting({2, 3})});
  CHECK(result.type.shape.empty());
  CHECK(result.values[0] == Approx(3.5));
}

TEST_CASE("reductions: bf16 accumulates in f32", "[unit][lower]") {
  TraceBuilder trace;
  const auto x = trace.input(DType::bf16, {4});
  const auto graph = trace.lower(trace.push(TraceOp::sum, {x}, DType::bf16, {}, {0}));
  CHECK(graph.type(graph.outputs()[0].value).dtype == DType::bf16);
  for (const auto& node : graph.nodes())
    if (node.op == ir::Op::reduce_sum) CHECK(graph.type(node.results[0]).dtype == DType::f32);
}

TEST_CASE("rearrange: splits, permutes and merges", "[unit][lower]") {
  TraceBuilder trace;
  const auto x = trace.input(DType::f32, {1, 2, 12});
  const auto y =
      trace.push(TraceOp::rearrange, {x}, DType::f32, {3, 1, 2, 2, 2}, {1, 2, 3, 2, 2}, "b t (s h d) -> s b h t d");
  trace.at(y).names = {"b", "t", "s", "h", "d"};
  const auto result = evaluate(trace.lower(y), {counting({1, 2, 12})});
  REQUIRE(result.type.shape == Shape{3, 1, 2, 2, 2});
  for (int s = 0; s < 3; ++s)
    for (int h = 0; h < 2; ++h)
      for (int t = 0; t < 2; ++t)
        for (int d = 0; d < 2; ++d) {
          const auto at = static_cast<std::size_t>(((s * 2 + h) * 2 + t) * 2 + d);
          CHECK(result.values[at] == 1 + t * 12 + (s * 2 + h) * 2 + d);
        }
}

TEST_CASE("rearrange: merging back needs one transpose, and 1 stands for an extent", "[unit][lower]") {
  TraceBuilder trace;
  const auto x = trace.input(DType::f32, {2, 3, 4});
  const auto y = trace.push(TraceOp::rearrange, {x}, DType::f32, {1, 3, 8}, {2, 3, 4}, "h t d -> 1 t (h d)");
  trace.at(y).names = {"h", "t", "d"};
  const auto graph = trace.lower(y);
  CHECK(count(graph, ir::Op::transpose) == 1);
  const auto result = evaluate(graph, {counting({2, 3, 4})});
  CHECK(std::vector<double>(result.values.begin(), result.values.begin() + 8) ==
        std::vector<double>{1, 2, 3, 4, 13, 14, 15, 16});
}

TEST_CASE("gather_rows: an index of any shape", "[unit][lower]") {
  TraceBuilder trace;
  const auto table = trace.input(DType::f32, {3, 2});
  const auto index = trace.input(DType::i32, {2, 2});
  const auto graph = trace.lower(trace.push(TraceOp::gather_rows, {table, index}, DType::f32, {2, 2, 2}));
  const auto result = evaluate(graph, {counting({3, 2}), tensor({2, 2}, {2, 0, 1, 2}, DType::i32)});
  CHECK(result.values == std::vector<double>{5, 6, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("argmax: over an inner axis", "[unit][lower]") {
  TraceBuilder trace;
  const auto x = trace.input(DType::f32, {2, 3, 2});
  const auto graph = trace.lower(trace.push(TraceOp::argmax, {x}, DType::i32, {2, 2}, {1}));
  const auto result = evaluate(graph, {tensor({2, 3, 2}, {1, 9, 5, 2, 5, 3, /**/ 7, 0, 1, 0, 2, 8})});
  CHECK(result.type.dtype == DType::i32);
  CHECK(result.values == std::vector<double>{1, 0, 0, 2});
}

TEST_CASE("shapes: slice, concat, transpose, broadcast_to, reshape, cast and iota", "[unit][lower]") {
  TraceBuilder trace;
  const auto x = trace.input(DType::f32, {2, 3});
  const auto left = trace.push(TraceOp::slice, {x}, DType::f32, {2, 2}, {0, 2, 0, 2});
  const auto right = trace.push(TraceOp::slice, {x}, DType::f32, {2, 1}, {0, 2, 2, 3});
  const auto joined = trace.push(TraceOp::concat, {right, left}, DType::f32, {2, 3}, {1});
  const auto turned = trace.push(TraceOp::transpose, {joined}, DType::f32, {3, 2}, {1, 0});
  const auto flat = trace.push(TraceOp::reshape, {turned}, DType::f32, {6});
  const auto wide = trace.push(TraceOp::broadcast_to, {flat}, DType::f32, {2, 6});
  const auto number = trace.push(TraceOp::iota, {}, DType::i32, {6});
  const auto as_float = trace.push(TraceOp::cast, {number}, DType::f32, {6});
  const auto sum = trace.push(TraceOp::add, {wide, as_float}, DType::f32, {2, 6});
  const auto result = evaluate(trace.lower(sum), {counting({2, 3})});
  CHECK(result.values == std::vector<double>{3, 7, 3, 7, 6, 10, 3, 7, 3, 7, 6, 10});
}

TEST_CASE("lower: ports, names and ranges come from the trace", "[unit][lower]") {
  TraceBuilder trace;
  auto& job = trace.job();
  const auto p = trace.input(DType::f32, {2});
  job.params[0].name = "h.0.weight";
  job.states.push_back({"m/h.0.weight", 0, {DType::f32, {2}}, {}});
  auto& update = job.update;
  const auto push = [&](TraceOp op, DType dtype, Shape shape, std::vector<check::TensorRef> operands = {}) {
    update.tensors.push_back({op,
                              std::move(operands),
                              {dtype, std::move(shape)},
                              {},
                              {},
                              {},
                              0,
                              false,
                              source::Range::of(source::FileId{0}, 3, 7)});
    return static_cast<check::TensorRef>(update.tensors.size() - 1);
  };
  const auto param = push(TraceOp::input, DType::f32, {2});
  const auto state = push(TraceOp::input, DType::f32, {2});
  const auto gradient = push(TraceOp::input, DType::f32, {2});
  const auto step = push(TraceOp::input, DType::f64, {});
  update.inputs = {{param, check::InputKind::param, 0},
                   {state, check::InputKind::state, 0},
                   {gradient, check::InputKind::gradient, 0},
                   {step, check::InputKind::step, 0}};
  const auto moved = push(TraceOp::sub, DType::f32, {2}, {param, gradient});
  const auto rate = push(TraceOp::cast, DType::f32, {}, {step});
  update.outputs = {{moved, check::OutputKind::param, 0},
                    {state, check::OutputKind::state, 0},
                    {rate, check::OutputKind::learning_rate, 0}};

  const auto graph = lower::lower(update, job);
  REQUIRE(graph.inputs().size() == 4);
  CHECK(graph.inputs()[0].name == "h.0.weight");
  CHECK(graph.inputs()[0].port == ir::Port::param);
  CHECK(graph.inputs()[1].name == "m/h.0.weight");
  CHECK(graph.inputs()[1].port == ir::Port::state);
  CHECK(graph.inputs()[2].name == "gradient.h.0.weight");
  CHECK(graph.inputs()[3].port == ir::Port::step);
  CHECK(graph.outputs()[0].name == "h.0.weight");
  CHECK(graph.outputs()[1].port == ir::Port::state);
  CHECK(graph.outputs()[2].port == ir::Port::learning_rate);
  CHECK(graph.nodes()[0].range.begin == 3);
  CHECK_FALSE(graph.nodes()[0].range.is_none);
  CHECK(p == 0);
}

TEST_CASE("lower: batch fields are named after the data of the objective", "[unit][lower]") {
  TraceBuilder trace;
  auto& job = trace.job();
  job.spec.metrics = {"loss"};
  job.spec.train_data.fields = {{"image", DType::f32, {2}, false}};
  job.spec.eval_data = DataSpec{};
  job.spec.eval_data->fields = {{"picture", DType::f32, {2}, false}};
  auto& objective = job.train_objective;
  objective.tensors.push_back({TraceOp::input, {}, {DType::f32, {4, 2}}, {}, {}, {}, 0, false, {}});
  objective.tensors.push_back({TraceOp::mean, {0}, {DType::f32, {}}, {0, 1}, {}, {}, 0, false, {}});
  objective.inputs = {{0, check::InputKind::batch, 0}};
  objective.outputs = {{1, check::OutputKind::metric, 0}};
  job.eval_objective = objective;
  job.update = {};
  const auto lowered = lower::lower(job);
  CHECK(lowered.objective.inputs()[0].name == "batch.image");
  REQUIRE(lowered.eval_objective);
  CHECK(lowered.eval_objective->inputs()[0].name == "batch.picture");
  CHECK(lowered.objective.outputs()[0].name == "metric.loss");
}
