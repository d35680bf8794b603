#include <fstream>
#include <iterator>
#include <string>

#include "compiler/check/check.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/lower/lower.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/source/source.hpp"
#include "tests/property/gradient_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"

// The layers of the standard library as they are written: from layers.dtj through parse, check and lower to autodiff.

namespace dtj {
namespace {

ir::Graph lower_job(const std::string& job) {
  const std::string path = std::string(DTJ_SOURCE_DIR) + "/tests/property/layers.dtj";
  std::ifstream in(path);
  source::SourceManager sources;
  diag::Sink sink;
  const auto id = sources.add(path, std::string(std::istreambuf_iterator<char>(in), {}));
  const auto file = parse::parse(sources.file(id), sink);
  REQUIRE(file);
  check::CheckOptions options;
  options.job = job;
  const auto checked = check::check(*file, sources, options, sink);
  INFO(diag::render_text(sink.sorted(), sources, {}));
  REQUIRE(checked);
  return lower::lower(checked->train_objective, *checked);
}

}  // namespace

TEST_CASE("gradients: the transformer layers of the library, in f64 to 1e-6", "[property]") {
  const std::string job = GENERATE("rms_norm", "swiglu", "rotary", "grouped_query_attention", "multi_query_attention",
                                   "label_smoothing", "gpt2", "llama", "tied_llama");
  const bool whole_list = GENERATE(false, true);
  INFO(job << (whole_list ? " through all passes" : ""));
  const ir::Graph objective = lower_job(job);
  test::GradientCheckOptions options;
  options.whole_list = whole_list;
  test::check_gradients(objective, test::random_inputs(objective, 7), options);
}

}  // namespace dtj
