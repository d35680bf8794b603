#include <fstream>
#include <sstream>

#include "compiler/check/check.hpp"
#include "compiler/parse/parse.hpp"
#include "contract_support.hpp"
#include "tests/support/catch.hpp"

// Whole jobs. Their mistakes are shown by tests/golden/check; here it is what a good job becomes.

namespace dtj::check {
namespace {

struct Job {
  source::SourceManager sources;
  diag::Sink sink;
  std::optional<CheckedJob> checked;

  explicit Job(const std::string& path, const CheckOptions& options = {}) {
    std::ifstream in(std::string(DTJ_SOURCE_DIR) + "/" + path);
    std::stringstream text;
    text << in.rdbuf();
    const auto id = sources.add(path, text.str());
    const auto file = parse::parse(sources.file(id), sink);
    checked = check(*file, sources, options, sink);
    INFO(diag::render_text(sink.sorted(), sources, {}));
    CHECK_FALSE(sink.has_errors());
  }
};

CheckOptions with_bindings(std::map<std::string, std::string> bindings) {
  CheckOptions options;
  options.bindings = std::move(bindings);
  return options;
}

bool has_output(const Trace& trace, OutputKind kind) {
  for (const TraceOutput& output : trace.outputs)
    if (output.kind == kind) return true;
  return false;
}

}  // namespace

TEST_CASE("check: the image example becomes a job", "[unit][check]") {
  const Job job("examples/01_fashion_mlp.dtj", with_bindings({{"data_dir", "/images"}}));
  REQUIRE(job.checked);
  const JobSpec& spec = job.checked->spec;
  CHECK(spec.name == "fashion_mlp");
  CHECK(spec.seed == 1234);
  CHECK(spec.launch.world_size() == 2);
  CHECK(spec.mesh.dp == 2);
  CHECK(spec.train_data.source.path == "/images");
  CHECK(spec.train_data.global_batch == 128);
  CHECK(spec.train_data.micro_batch == 64);
  CHECK(spec.train_data.transform.mean == 0.2860);
  CHECK(spec.train_data.sampler.last_batch == LastBatch::drop);
  REQUIRE(spec.train_data.fields.size() == 2);
  CHECK(spec.train_data.fields[0].sample_shape == Shape{1, 28, 28});
  CHECK(spec.train_data.fields[1].is_target);
  REQUIRE(spec.eval_data);
  CHECK(spec.eval_data->micro_batch == 500);
  CHECK(spec.eval_data->sampler.last_batch == LastBatch::pad);
  CHECK(spec.train.stop.unit == ProgressUnit::epoch);
  CHECK(spec.train.grad_clip_norm == 1.0);
  REQUIRE(spec.eval);
  REQUIRE(spec.eval->goal);
  CHECK(spec.eval->goal->metric == "acc");
  CHECK(spec.eval->goal->value == 0.88);
  REQUIRE(spec.checkpoint);
  CHECK(spec.checkpoint->dir == "runs/fashion_mlp");
  CHECK(spec.metrics == std::vector<std::string>{"loss", "acc"});
}

TEST_CASE("check: the traces of a job have their inputs and outputs", "[unit][check]") {
  const Job job("examples/01_fashion_mlp.dtj");
  REQUIRE(job.checked);
  CHECK(job.checked->params.size() == 6);
  CHECK(job.checked->states.size() == 12);
  CHECK(has_output(job.checked->train_objective, OutputKind::metric));
  REQUIRE(job.checked->eval_objective);
  CHECK(has_output(*job.checked->eval_objective, OutputKind::metric));
  CHECK(has_output(job.checked->update, OutputKind::param));
  CHECK(has_output(job.checked->update, OutputKind::learning_rate));
  CHECK(has_output(job.checked->update, OutputKind::gradient_norm));
}

TEST_CASE("check: the text example becomes a job", "[unit][check]") {
  const Job job("examples/02_char_gpt.dtj");
  REQUIRE(job.checked);
  const JobSpec& spec = job.checked->spec;
  CHECK(spec.train_data.seq == 64);
  CHECK(spec.train_data.micro_batch == 6);
  CHECK(spec.train_data.source.vocab == 128);
  REQUIRE(spec.train_data.fields.size() == 2);
  CHECK(spec.train_data.fields[0].sample_shape == Shape{64});
  CHECK(spec.train_data.fields[1].is_target);
  REQUIRE(spec.eval);
  CHECK(spec.eval->batches == 40);
  CHECK_FALSE(spec.eval->goal);
}

TEST_CASE("check: tokens are counted in samples", "[unit][check]") {
  const Job job("tests/golden/check/text.dtj");
  REQUIRE(job.checked);
  CHECK(job.checked->spec.train_data.global_batch == 16);
  CHECK(job.checked->spec.train_data.micro_batch == 8);
}

TEST_CASE("check: every section is read", "[unit][check]") {
  const Job job("tests/golden/check/images.dtj");
  REQUIRE(job.checked);
  const JobSpec& spec = job.checked->spec;
  CHECK(spec.precision.compute == DType::bf16);
  CHECK(spec.precision.params == DType::f32);
  REQUIRE(spec.checkpoint);
  REQUIRE(spec.checkpoint->every.size() == 2);
  CHECK(spec.checkpoint->every[0].unit == ProgressUnit::step);
  CHECK(spec.checkpoint->every[1].amount == 1800);
  CHECK(spec.checkpoint->keep == 3);
}

TEST_CASE("check: an unbound text stands in its brackets", "[unit][check]") {
  const Job job("tests/golden/check/slurm.dtj");
  REQUIRE(job.checked);
  CHECK(job.checked->spec.launch.method == LaunchMethod::slurm);
  CHECK(job.checked->spec.launch.world_size() == 8);
  CHECK(job.checked->spec.launch.walltime_seconds == 4 * 3600.0);
  REQUIRE(job.checked->placeholders.size() == 2);
  CHECK_FALSE(job.checked->placeholders[0].value);
}

TEST_CASE("check: a file without a job is no error", "[unit][check]") {
  const Job job("tests/golden/check/library.dtj");
  CHECK_FALSE(job.checked);
}

}  // namespace dtj::check
