#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/unit/check/eval_support.hpp"

namespace dtj::check::testing {
namespace {

const std::vector<FieldSpec> images = {{"image", DType::f32, {1, 28, 28}, false}, {"label", DType::i32, {}, true}};
const std::vector<FieldSpec> characters = {{"tokens", DType::i32, {64}, false}, {"targets", DType::i32, {64}, true}};

std::int64_t num_values(const std::vector<ParamInfo>& params) {
  return std::accumulate(params.begin(), params.end(), std::int64_t{0},
                         [](std::int64_t sum, const ParamInfo& param) { return sum + num_elements(param.type.shape); });
}

/// Operands come before their uses, every element-wise op has operands of one dtype, every output exists.
void check_well_formed(const Trace& trace) {
  for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
    const auto& tensor = trace.tensors[i];
    std::set<DType> dtypes;
    for (TensorRef operand : tensor.operands) {
      REQUIRE(operand < i);
      dtypes.insert(trace.tensors[operand].type.dtype);
    }
    if (tensor.op >= TraceOp::add && tensor.op <= TraceOp::logical_or) CHECK(dtypes.size() == 1);
  }
  for (const auto& output : trace.outputs) REQUIRE(output.tensor < trace.tensors.size());
}

TEST_CASE("traces: the objective of the multi-layer perceptron", "[unit][check]") {
  Program program(read_file(DTJ_SOURCE_DIR "/examples/01_fashion_mlp.dtj"));
  const Trace trace = program.objective(images, 64);
  INFO(program.all_errors());
  REQUIRE(program.errors().empty());
  CHECK(num_values(program.evaluator.params()) == 235'146);
  CHECK(program.metrics == Strings{"loss", "acc"});
  check_well_formed(trace);
  REQUIRE(trace.inputs.size() == 8);
  CHECK(trace.inputs[0].kind == InputKind::param);
  CHECK(type_of(trace, trace.inputs[0].tensor) == "f32[256, 784]");
  CHECK(trace.inputs[6].kind == InputKind::batch);
  CHECK(type_of(trace, trace.inputs[6].tensor) == "f32[64, 1, 28, 28]");
  CHECK(type_of(trace, trace.inputs[7].tensor) == "i32[64]");
  REQUIRE(trace.outputs.size() == 2);
  CHECK(type_of(trace, trace.outputs[0].tensor) == "f32[]");
  const auto ops = ops_of(trace);
  CHECK(std::count(ops.begin(), ops.end(), "einsum") == 3);
  CHECK(std::count(ops.begin(), ops.end(), "cast") == 3);  // of the bool masks
  const auto einsum = std::find_if(trace.tensors.begin(), trace.tensors.end(),
                                   [](const TracedTensor& t) { return t.op == TraceOp::einsum; });
  CHECK(einsum->text == "Ai,oi->Ao");
}

TEST_CASE("traces: the objective of the character model", "[unit][check]") {
  Program program(read_file(DTJ_SOURCE_DIR "/examples/02_char_gpt.dtj"));
  const Trace trace = program.objective(characters, 6);
  INFO(program.all_errors());
  REQUIRE(program.errors().empty());
  const auto& params = program.evaluator.params();
  CHECK(num_values(params) == 4 * (12 * 128 * 128 + 2 * 128) + 128 + 128 * 128 + 64 * 128);
  CHECK(params[0].name == "wte.weight");
  CHECK(params[2].name == "h.0.ln1.weight");
  CHECK(params[3].name == "h.0.attn.qkv.weight");
  CHECK(params.back().name == "lnf.weight");
  CHECK(params[4].init.b == Approx(0.02 / std::sqrt(8.0)));
  check_well_formed(trace);
  CHECK(std::find_if(trace.tensors.begin(), trace.tensors.end(), [](const TracedTensor& t) {
          return t.op == TraceOp::einsum && t.text == "bhqd,bhkd->bhqk" && t.type.shape == Shape{6, 4, 64, 64};
        }) != trace.tensors.end());
}

TEST_CASE("traces: compute in bf16 casts parameters, keeps statistics in f32", "[unit][check]") {
  PrecisionSpec precision;
  precision.compute = DType::bf16;
  for (const std::string name : {"01_fashion_mlp", "02_char_gpt"}) {
    Program program(read_file(DTJ_SOURCE_DIR "/examples/" + name + ".dtj"), precision);
    const Trace trace = program.objective(name[1] == '1' ? images : characters, 2);
    INFO(program.all_errors());
    REQUIRE(program.errors().empty());
    check_well_formed(trace);
    for (const auto& tensor : trace.tensors) {
      if (tensor.op == TraceOp::einsum) CHECK(tensor.type.dtype == DType::bf16);
      if (tensor.op == TraceOp::sum) CHECK(tensor.type.dtype == DType::f32);
    }
    CHECK(type_of(trace, trace.outputs[0].tensor) == "f32[]");
  }
}

TEST_CASE("traces: a model that mixes act with f32 is refused in bf16", "[unit][check]") {
  PrecisionSpec precision;
  precision.compute = DType::bf16;
  Program program(
      "import std.nn.{Linear};\nmodule M() { sub a = Linear(8, 8); fn forward(x: act[B, 8]) -> act[B, 8] { (a(x) as "
      "f32) * 2.0 } }\n"
      "job j { model = M(); fn objective(m, batch) { {loss = mean(m(batch.x))} } }",
      precision);
  program.objective({{"x", DType::f32, {8}, false}}, 2);
  CHECK(program.errors() ==
        Strings{"E202 `(a(x) as f32) * 2.0`: the result of `M.forward` must be act (bf16), found f32[2, 8]"});
}

TEST_CASE("traces: `training` chooses at compile time", "[unit][check]") {
  const std::string text =
      "import std.nn.{Linear};\nfn noise(x) { if training { x * 2.0 } else { x } }\n"
      "job j { model = Linear(2, 2); fn objective(m, batch) { {loss = mean(noise(batch.x))} } }";
  Program program(text);
  const auto train = ops_of(program.objective({{"x", DType::f32, {2}, false}}, 1, true));
  Program other(text);
  const auto eval = ops_of(other.objective({{"x", DType::f32, {2}, false}}, 1, false));
  CHECK(train.size() == eval.size() + 2);
}

TEST_CASE("traces: where clauses of forward see the bound dims", "[unit][check]") {
  Program program(read_file(DTJ_SOURCE_DIR "/examples/02_char_gpt.dtj"));
  program.objective({{"tokens", DType::i32, {65}, false}, {"targets", DType::i32, {65}, true}}, 1);
  CHECK(program.errors() == Strings{"E306 `m(batch.tokens)`: `CharGpt.forward` needs `T <= ctx`"});
  CHECK(program.sink.sorted()[0].range_label == "T = 65, ctx = 64");
}

TEST_CASE("traces: AdamW with a schedule and clipping", "[unit][check]") {
  Program program(read_file(DTJ_SOURCE_DIR "/examples/01_fashion_mlp.dtj"));
  program.objective(images, 64);
  std::vector<StateInfo> states;
  const Trace trace = program.evaluator.trace_update(program.setting("optimizer"), {1.0, {}}, std::nullopt, states);
  INFO(program.all_errors());
  REQUIRE(program.errors().empty());
  check_well_formed(trace);
  REQUIRE(states.size() == 12);
  CHECK(states[0].name == "m/fc1.weight");
  CHECK(states[1].name == "v/fc1.weight");
  CHECK(states[3].param == 1);
  CHECK(states[0].type.shape == Shape{256, 784});
  CHECK(trace.inputs.size() == 6 + 12 + 6 + 1);
  CHECK(trace.inputs.back().kind == InputKind::step);
  CHECK(type_of(trace, trace.inputs.back().tensor) == "f64[]");
  REQUIRE(trace.outputs.size() == 6 + 12 + 2);
  CHECK(trace.outputs[0].kind == OutputKind::param);
  CHECK(trace.outputs[6].kind == OutputKind::state);
  CHECK(trace.outputs[18].kind == OutputKind::learning_rate);
  CHECK(trace.outputs[19].kind == OutputKind::gradient_norm);
  for (const auto& output : trace.outputs) CHECK(trace.tensors[output.tensor].type.dtype == DType::f32);
  CHECK(trace.tensors[trace.outputs[6].tensor].op != TraceOp::input);  // the state has a new value
  const auto ops = ops_of(trace);
  CHECK(std::count(ops.begin(), ops.end(), "cos") == 1);
}

std::size_t num_states(const std::string& optimizer, Strings& errors) {
  Program program(
      "import std.nn.{Linear};\nimport std.optim.{SGD, AdamW, constant_lr, linear_lr};\n"
      "job j { model = Linear(2, 3); optimizer = " +
      optimizer + "; fn objective(m, batch) { {loss = mean(m(batch.x))} } }");
  program.objective({{"x", DType::f32, {2}, false}}, 1);
  std::vector<StateInfo> states;
  program.evaluator.trace_update(program.setting("optimizer"), {}, std::nullopt, states);
  errors = program.errors();
  return states.size();
}

TEST_CASE("traces: states depend on the optimizer's arguments", "[unit][check]") {
  Strings errors;
  CHECK(num_states("SGD(lr = 0.1)", errors) == 0);
  CHECK(errors.empty());
  CHECK(num_states("SGD(lr = 0.1, momentum = 0.9, nesterov = true)", errors) == 2);
  CHECK(errors.empty());
  CHECK(num_states("SGD(lr = constant_lr(0.1), momentum = 0.9)", errors) == 2);
  CHECK(errors.empty());
  CHECK(num_states("AdamW(lr = linear_lr(start = 1e-3, end = 0.0, total = 100))", errors) == 4);
  CHECK(errors.empty());
}

TEST_CASE("traces: what is no optimizer", "[unit][check]") {
  Strings errors;
  num_states("Linear(1, 1)", errors);
  CHECK(errors.size() >= 1);
  num_states("3", errors);
  CHECK(errors == Strings{"E304 `3`: `optimizer` must be an optimizer, found an integer"});
  num_states("AdamW(lr = \"fast\")", errors);
  CHECK(errors == Strings{"E304 `\"fast\"`: argument `lr` of `AdamW` must be a learning rate, found a string"});
}

TEST_CASE("traces: a state keeps its shape and dtype", "[unit][check]") {
  Program program(
      "import std.nn.{Linear};\nimport std.init.{zeros};\n@optimizer module Bad(lr: Schedule) { state v: f32[..S] = "
      "zeros();\n"
      "  fn update(p: f32[..S], g: f32[..S], step: f64[], lr: f64[]) -> f32[..S] { v = sum(g); p - g } }\n"
      "job j { model = Linear(2, 3); optimizer = Bad(lr = 0.1); fn objective(m, batch) { {loss = 0.0} } }");
  program.setting("model");
  std::vector<StateInfo> states;
  program.evaluator.trace_update(program.setting("optimizer"), {}, std::nullopt, states);
  CHECK(program.errors() == Strings{"E201 `sum(g)`: the state `v` is f32[3, 2], found a tensor f32[]"});
}

}  // namespace
}  // namespace dtj::check::testing
