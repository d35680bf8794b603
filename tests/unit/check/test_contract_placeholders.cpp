#include <cstdint>
#include <set>

#include "compiler/check/check.hpp"
#include "compiler/check/evaluator.hpp"
#include "compiler/check/placeholders.hpp"
#include "compiler/parse/parse.hpp"
#include "contract_support.hpp"
#include "tests/support/catch.hpp"

namespace dtj::check {
namespace {

using Bindings = std::map<std::string, std::string>;

struct Bound {
  source::SourceManager sources;
  diag::Sink sink;
  std::unique_ptr<ast::File> file;
  Placeholders placeholders;

  Bound(const std::string& binds, const Bindings& bindings) {
    const auto id = sources.add("job.dtj", "dtj 1;\n" + binds);
    file = parse::parse(sources.file(id), sink);
    REQUIRE_FALSE(sink.has_errors());
    CheckOptions options;
    options.bindings = bindings;
    placeholders = bind_placeholders({file.get()}, options, sink);
    Evaluator evaluator(sources, sink, placeholders.values);
    check_conditions(*file, placeholders, evaluator, evaluator.declare(*file), sink);
    for (const auto& [name, decl] : placeholders.declarations)
      if (placeholders.values.count(name) == 0) note_unbound(*decl, sink);
  }

  std::vector<diag::Kind> kinds() const { return testing::kinds(sink); }
  std::string text() const { return diag::render_text(sink.sorted(), sources, {}) + diag::render_json(sink.sorted(), sources); }
};

}  // namespace

TEST_CASE("placeholders: texts are parsed by the type of the placeholder", "[unit][check]") {
  CHECK(*parse_binding("int", "1_000")->as<std::int64_t>() == 1000);
  CHECK(*parse_binding("float", "1e-3")->as<double>() == 1e-3);
  CHECK(parse_binding("duration", "90min")->as<Quantity>()->amount == 5400);
  CHECK(parse_binding("bytes", "2GiB")->as<Quantity>()->amount == 2.0 * 1024 * 1024 * 1024);
  CHECK(*parse_binding("path.dir", "/data")->as<std::string>() == "/data");
  CHECK(*parse_binding("port", "29500")->as<std::int64_t>() == 29500);
  CHECK(*parse_binding("slurm.partition", "gpu-large")->as<std::string>() == "gpu-large");
}

TEST_CASE("placeholders: texts of another type are refused", "[unit][check]") {
  const std::pair<const char*, const char*> cases[] = {{"int", "four"},     {"int", "4.5"},      {"int", ""},        {"float", "nan"},
                                                       {"duration", "90"},  {"duration", "2GiB"}, {"bytes", "2furlong"}, {"path.dir", ""},
                                                       {"port", "70000"},   {"port", "0"},        {"host", "a b"},      {"slurm.qos", "$(rm)"}};
  for (const auto& [type, text] : cases) {
    INFO(type << " " << text);
    CHECK_FALSE(parse_binding(type, text));
  }
}

TEST_CASE("placeholders: a given value wins over the default", "[unit][check]") {
  const Bound bound("bind <n>: int = 2;\nbind <dir>: path.dir = \"runs\";\n", {{"n", "4"}});
  CHECK(bound.kinds().empty());
  CHECK(*bound.placeholders.values.at("n").as<std::int64_t>() == 4);
  CHECK(*bound.placeholders.values.at("dir").as<std::string>() == "runs");
  CHECK(bound.placeholders.infos[0].value == "4");
  CHECK(bound.placeholders.infos[1].value == "runs");
}

TEST_CASE("placeholders: one without a value is noted with its help", "[unit][check]") {
  const Bound bound("bind <data>: path.dir \"folder of the images\";\n", {});
  CHECK(bound.kinds() == std::vector{diag::Kind::unbound_placeholder});
  CHECK(bound.placeholders.values.empty());
  CHECK_FALSE(bound.placeholders.infos[0].value);
  CHECK(bound.text().find("folder of the images") != std::string::npos);
}

TEST_CASE("placeholders: a name that the file does not declare is an error", "[unit][check]") {
  const Bound bound("bind <data>: path.dir = \"d\";\n", {{"dta", "/x"}});
  CHECK(bound.kinds() == std::vector{diag::Kind::unknown_binding});
  CHECK(bound.text().find("did you mean `data`?") != std::string::npos);
}

TEST_CASE("placeholders: a condition is checked once there is a value", "[unit][check]") {
  const std::string binds = "bind <n>: int where <n> <= 64;\n";
  CHECK(Bound(binds, {}).kinds() == std::vector{diag::Kind::unbound_placeholder});
  CHECK(Bound(binds, {{"n", "64"}}).kinds().empty());
  CHECK(Bound(binds, {{"n", "65"}}).kinds() == std::vector{diag::Kind::bad_binding});
}

TEST_CASE("placeholders: the site profile comes after --bind and before the default", "[unit][check]") {
  source::SourceManager sources;
  diag::Sink sink;
  const auto id = sources.add("job.dtj", "dtj 1;\nbind <n>: int = 2;\nbind <m>: int = 2;\nbind <queue>: slurm.partition;\nbind <t>: duration;\n");
  const auto file = parse::parse(sources.file(id), sink);
  CheckOptions options;
  options.bindings = {{"n", "4"}};
  options.site_values = {{"n", {"8", "site.toml:2"}}, {"m", {"16", "site.toml:3"}}, {"queue", {"gpu", "site.toml:4"}}, {"t", {"4", "site.toml:5"}}, {"other", {"x", "site.toml:6"}}};
  const Placeholders bound = bind_placeholders({file.get()}, options, sink);
  CHECK(bound.infos[0].value == "4");
  CHECK(bound.infos[1].value == "16");
  CHECK(bound.infos[2].value == "gpu");
  REQUIRE(testing::kinds(sink) == std::vector{diag::Kind::bad_binding});
  CHECK(sink.sorted()[0].message == "`t` of site.toml:5, which is `4`, is not a duration");
}

TEST_CASE("placeholders: a secret appears in no message", "[unit][check]") {
  const Bound bound("bind <key>: secret where <key> == \"other\";\nbind <n>: int;\n", {{"key", "hunter2"}, {"kye", "hunter2"}, {"n", "x"}});
  CHECK(bound.sink.num_errors() == 3);
  CHECK(bound.text().find("hunter2") == std::string::npos);
  CHECK(bound.placeholders.infos[0].value == "(secret)");
}

TEST_CASE("placeholders: a value that is only tried is nobody's value", "[unit][check]") {
  const std::string text =
      "dtj 1;\nimport std.nn.{Linear, cross_entropy};\nimport std.optim.{SGD};\nimport std.data.{idx_images};\nbind <n>: int;\n"
      "module Net() {\n  sub head = Linear(784, 10);\n  fn forward(x: act[B, 1, 28, 28]) -> act[B, 10] { x |> flatten(from = 1) |> head }\n}\n"
      "job j {\n  launch { ranks_per_node = <n>; }\n  model = Net();\n"
      "  data train { source = idx_images(\"data\"); global_batch = 128sample; sampler = shuffle(seed = 1); }\n"
      "  fn objective(m, batch) { {loss = cross_entropy(m(batch.image), batch.label)} }\n"
      "  optimizer = SGD(lr = 0.1);\n  train { stop = 1epoch; }\n}\n";
  source::SourceManager sources;
  diag::Sink sink;
  const auto file = parse::parse(sources.file(sources.add("job.dtj", text)), sink);
  std::set<std::int64_t> seen;
  CheckOptions options;
  options.on_value = [&](source::Range range, const Value& value) {
    const bool is_placeholder = !range.is_none && range.file.value == 0 && text.substr(range.begin, range.end - range.begin) == "<n>";
    if (const auto* number = value.as<std::int64_t>(); is_placeholder && number != nullptr) seen.insert(*number);
  };
  check(*file, sources, options, sink);
  CHECK(seen == std::set<std::int64_t>{1});  // what the rest of the job is checked with
}

}  // namespace dtj::check
