#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/check/check.hpp"
#include "compiler/parse/parse.hpp"
#include "tests/support/catch.hpp"

// Parameters by name: where the maps of std.io find them, and what `freeze` and `groups` leave of the update.

namespace dtj::check {
namespace {

/// A job over text with `model`, and further settings.
CheckedJob check_job(const std::string& model, const std::string& sections, const std::string& optimizer,
                     const std::string& train = "") {
  source::SourceManager sources;
  diag::Sink sink;
  const std::string text = fmt::format(R"(dtj 1;
import std.nn.{{cross_entropy}};
import std.optim.{{AdamW, SGD}};
import std.transformer.{{Gpt2, Llama}};
import std.io.{{safetensors, rename, gpt2_from_hugging_face, llama_from_hugging_face}};
import std.data.{{text_chars}};
job j {{
  launch {{ method = local; nodes = 1; ranks_per_node = 1; device = cpu; }}
  model = {};
  {}
  data train {{ source = text_chars("t", vocab = 16); seq = 4tok; global_batch = 2sample; sampler = shuffle(seed = 1); }}
  fn objective(m, batch) {{ {{loss = cross_entropy(m(batch.tokens), batch.targets)}} }}
  optimizer = {};
  train {{ stop = 2step; {} }}
}}
)",
                                       model, sections, optimizer, train);
  const auto file = parse::parse(sources.file(sources.add("job.dtj", text)), sink);
  REQUIRE(file);
  auto checked = check(*file, sources, {}, sink);
  INFO(diag::render_text(sink.sorted(), sources, {}));
  REQUIRE(checked);
  return std::move(*checked);
}

/// "tensor" or "tensor^T" that the parameter starts as.
std::string source_of(const CheckedJob& job, const std::string& param) {
  for (const WeightSource& source : job.spec.weights->sources)
    if (source.param == param) return source.tensor + (source.transpose ? "^T" : "");
  return "none";
}

std::size_t count_inputs(const CheckedJob& job, InputKind kind) {
  const auto& inputs = job.update.inputs;
  return static_cast<std::size_t>(
      std::count_if(inputs.begin(), inputs.end(), [&](const TraceInput& input) { return input.kind == kind; }));
}

const std::string gpt2 = "Gpt2(vocab = 16, ctx = 8, layers = 2, heads = 2, C = 4)";

}  // namespace

TEST_CASE("weights: the map of std.io for GPT-2 with and without a prefix", "[unit][check]") {
  for (const std::string prefix : {"", "transformer."}) {
    const auto job = check_job(
        gpt2, fmt::format("init {{ from = safetensors(\"w\", map = gpt2_from_hugging_face(prefix = \"{}\")); }}", prefix),
        "SGD(lr = 0.1)");
    REQUIRE(job.spec.weights);
    CHECK(source_of(job, "wte.weight") == prefix + "wte.weight");
    CHECK(source_of(job, "wpe.weight") == prefix + "wpe.weight");
    CHECK(source_of(job, "h.1.attn.qkv.weight") == prefix + "h.1.attn.c_attn.weight^T");
    CHECK(source_of(job, "h.1.attn.proj.bias") == prefix + "h.1.attn.c_proj.bias");
    CHECK(source_of(job, "h.0.mlp.fc.weight") == prefix + "h.0.mlp.c_fc.weight^T");
    CHECK(source_of(job, "h.0.ln2.bias") == prefix + "h.0.ln_2.bias");
    CHECK(source_of(job, "lnf.weight") == prefix + "ln_f.weight");
  }
}

TEST_CASE("weights: the map of std.io for Llama, tied or not", "[unit][check]") {
  for (const std::string tied : {"true", "false"}) {
    const auto job = check_job(
        "Llama(vocab = 16, layers = 2, heads = 2, kv_heads = 1, C = 4, hidden = 6, tied = " + tied + ")",
        "init { from = safetensors(\"w\", map = llama_from_hugging_face()); }", "SGD(lr = 0.1)");
    REQUIRE(job.spec.weights);
    CHECK(source_of(job, "wte.weight") == "model.embed_tokens.weight");
    CHECK(source_of(job, "h.1.attn.k.weight") == "model.layers.1.self_attn.k_proj.weight");
    CHECK(source_of(job, "h.0.mlp.gate.weight") == "model.layers.0.mlp.gate_proj.weight");
    CHECK(source_of(job, "h.0.norm1.weight") == "model.layers.0.input_layernorm.weight");
    CHECK(source_of(job, "h.1.norm2.weight") == "model.layers.1.post_attention_layernorm.weight");
    CHECK(source_of(job, "norm.weight") == "model.norm.weight");
    CHECK(source_of(job, "head.weight") == (tied == "true" ? "none" : "lm_head.weight"));
  }
}

TEST_CASE("freeze: a frozen parameter has no input, state or output in the update", "[unit][check]") {
  const auto all = check_job(gpt2, "", "AdamW(lr = 0.1)");
  const auto some = check_job(gpt2, "", "AdamW(lr = 0.1)", "freeze = [\"h.{i}.attn.*\"];");
  CHECK(all.params.size() == some.params.size());
  CHECK(all.states.size() - some.states.size() == 2 * 8);  // qkv and proj of two blocks, with biases
  CHECK(count_inputs(all, InputKind::gradient) - count_inputs(some, InputKind::gradient) == 8);
  CHECK(count_inputs(all, InputKind::param) - count_inputs(some, InputKind::param) == 8);
  for (const StateInfo& state : some.states) CHECK_FALSE(some.params[state.param].is_frozen);
}

TEST_CASE("groups: the scaling rule of the batch holds for the rate of a group too", "[unit][check]") {
  const auto num_factors = [](const std::string& train) {
    const auto job = check_job(gpt2, "", "SGD(lr = 0.1, groups = [group(\"*.bias\", lr = 0.01)])", train);
    const auto& tensors = job.update.tensors;
    return std::count_if(tensors.begin(), tensors.end(), [](const TracedTensor& tensor) {
      return tensor.op == TraceOp::constant && tensor.number == 2.0;
    });
  };
  CHECK(num_factors("") == 0);
  CHECK(num_factors("lr_scaling = linear(base = 1sample);") == 2);  // of the optimizer and of the group
}

TEST_CASE("groups: a group may take the state away", "[unit][check]") {
  const auto job = check_job(gpt2, "", "SGD(lr = 0.1, momentum = 0.9, groups = [group(\"*.bias\", momentum = 0.0)])");
  CHECK_FALSE(job.states.empty());
  for (const StateInfo& state : job.states) CHECK(state.name.find(".bias") == std::string::npos);
}

}  // namespace dtj::check
