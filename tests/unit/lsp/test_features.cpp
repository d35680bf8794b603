#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temp_dir.hpp"
#include "tests/unit/lsp/client.hpp"

namespace dtj::lsp {
namespace {

using Json = nlohmann::json;

/// A job with places to put the cursor.
std::string job(const std::string& model, const std::string& train = "train { stop = 10epoch; }") {
  return "dtj 1;\nimport std.nn.{Linear, relu, cross_entropy};\nimport std.optim.{SGD};\nimport std.data.{idx_images};\n" + model +
         "\njob tiny {\n  launch { ranks_per_node = 2; }\n  model = Net(classes = 10);\n"
         "  data train { source = idx_images(\"data\"); global_batch = 128sample; sampler = shuffle(seed = 1); }\n"
         "  fn objective(m, batch) { {loss = cross_entropy(m(batch.image), batch.label)} }\n  optimizer = SGD(lr = 0.1);\n  " +
         train + "\n}\n";
}
const std::string net =
    "/// One layer.\nmodule Net(classes: int) {\n  sub head = Linear(784, classes);\n"
    "  fn forward(x: act[B, 1, 28, 28]) -> act[B, classes] {\n    let y = x |> flatten(from = 1);\n    y |> head\n  }\n}\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

bool has(const std::vector<std::string>& labels, const std::string& label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
bool says(const std::string& text, const std::string& words) {
  INFO(text);
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("lsp: diagnostics follow the text", "[unit][lsp]") {
  Client client;
  client.open(job(net));
  INFO(client.diagnostics().dump(2));
  CHECK(client.diagnostics().empty());
  client.open(job(net, "train { stop = 30min; }"));
  REQUIRE(client.diagnostics().size() == 1);
  const Json& diagnostic = client.diagnostics()[0];
  CHECK(diagnostic["code"] == "E301");
  CHECK(diagnostic["severity"] == 1);
  CHECK(diagnostic["range"]["start"]["line"] == 19);
  client.notify("textDocument/didChange", {{"textDocument", {{"uri", Client::uri}, {"version", 2}}}, {"contentChanges", {{{"text", job(net)}}}}});
  CHECK(client.diagnostics().empty());
}

TEST_CASE("lsp: columns count UTF-16 units", "[unit][lsp]") {
  Client client;
  client.open("dtj 1;\nconst a = \"\xF0\x9F\x98\x80\xC3\xA9\"; const b = nothing;\n");
  REQUIRE(client.diagnostics().size() == 1);
  CHECK(client.diagnostics()[0]["range"]["start"]["character"] == 27);
}

TEST_CASE("lsp: hover shows declarations, inferred shapes and documentation", "[unit][lsp]") {
  Client client;
  const std::string text = job(net);
  std::string hover = client.hover(with(text, "y |> head", "$y |> head"));
  CHECK(says(hover, "let y = x |> flatten(from = 1)"));
  CHECK(says(hover, "[B, 784]"));
  hover = client.hover(with(text, "let y", "let $y"));
  CHECK(says(hover, "[B, 784]"));
  hover = client.hover(with(text, "y |> head", "y |> he$ad"));
  CHECK(says(hover, "sub head = Linear(784, classes)"));
  CHECK(says(hover, "gives"));
  CHECK(says(hover, "[B, "));
  hover = client.hover(with(text, "model = Net", "model = $Net"));
  CHECK(says(hover, "module Net(classes: int)"));
  CHECK(says(hover, "One layer."));
  hover = client.hover(with(text, "sub head = Linear", "sub head = Line$ar"));
  CHECK(says(hover, "module Linear(I: dim, O: dim"));
  CHECK(says(hover, "y = x W^T + b"));
  CHECK(says(client.hover(with(text, "x |> flatten", "x |> fl$atten")), "a primitive"));
  CHECK(client.hover(with(text, "  optimizer =", " $ optimizer =")).empty());
}

TEST_CASE("lsp: definition, here and in the standard library", "[unit][lsp]") {
  test::TempDir cache;
  setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  Client client;
  const std::string text = job(net);
  client.open(with(text, "model = Net", "model = $Net"));
  Json place = client.at_cursor("textDocument/definition")["result"];
  CHECK(place["uri"] == Client::uri);
  CHECK(place["range"]["start"]["line"] == 5);
  CHECK(place["range"]["start"]["character"] == 7);

  client.open(with(text, "sub head = Linear", "sub head = $Linear"));
  place = client.at_cursor("textDocument/definition")["result"];
  const std::string path = place["uri"].get<std::string>().substr(7);
  CHECK(path.rfind(cache.path().string(), 0) == 0);
  std::ifstream in(path, std::ios::binary);
  std::string line;
  for (int i = 0; i <= place["range"]["start"]["line"].get<int>(); ++i) std::getline(in, line);
  CHECK(line.substr(place["range"]["start"]["character"].get<std::size_t>(), 6) == "Linear");

  client.open(with(text, "flatten(from", "flat$ten(from"));
  CHECK(client.at_cursor("textDocument/definition")["result"].is_null());
  client.open(with(text, "let y = x", "let y = $x"));
  CHECK(client.at_cursor("textDocument/definition")["result"]["range"]["start"]["line"] == 7);
  unsetenv("XDG_CACHE_HOME");
}

TEST_CASE("lsp: completion of keys, words, names, members and imports", "[unit][lsp]") {
  Client client;
  auto labels = client.complete(job(net, "train { stop = 10epoch; $ }"));
  CHECK(has(labels, "grad_clip"));
  CHECK(has(labels, "log_every"));
  CHECK_FALSE(has(labels, "stop"));
  labels = client.complete(job(net, "train { stop = 10epoch; lo$ }"));
  CHECK(has(labels, "log_every"));
  labels = client.complete(job(net, "$"));
  CHECK(has(labels, "checkpoint"));
  CHECK(has(labels, "seed"));
  labels = client.complete(with(job(net), "launch { ", "launch { method = $; "));
  CHECK(has(labels, "slurm"));
  labels = client.complete(with(job(net), "    y |> head", "    y |> he$"));
  for (const char* name : {"y", "x", "head", "classes", "Linear", "flatten", "relu", "if"}) CHECK(has(labels, name));
  CHECK_FALSE(has(labels, "objective"));
  labels = client.complete(with(job(net), "Linear(784, classes)", "Linear(784, $)"));
  for (const char* name : {"I", "O", "bias", "init"}) CHECK(has(labels, name));
  CHECK(has(client.complete("dtj 1;\nimport std.$"), "optim"));
  CHECK(has(client.complete("dtj 1;\nimport std.optim.{$}"), "AdamW"));
  CHECK(has(client.complete("dtj 1;\nimport std.optim;\nconst a = optim.$;\n"), "AdamW"));
  CHECK(has(client.complete("dtj 1;\nbind <data>: path.dir = \"d\";\nconst a = $;\n"), "<data>"));
  CHECK(client.complete("dtj 1;\n// a word $\n").empty());
  CHECK(client.complete("dtj 1;\nconst a = \"wo$rd\";\n").empty());
}

TEST_CASE("lsp: rename follows a name and nothing else", "[unit][lsp]") {
  Client client;
  const auto renamed = [&](const std::string& text, const std::string& name) {
    client.open(text);
    const Json answer = client.at_cursor("textDocument/rename", {{"newName", name}});
    INFO(answer.dump());
    REQUIRE(answer.contains("result"));
    return client.apply(answer["result"]);
  };
  const std::string text = job(net);
  CHECK(renamed(with(text, "y |> head", "$y |> head"), "flat") == with(with(text, "let y", "let flat"), "y |> head", "flat |> head"));
  std::string expected = text;
  for (const char* place : {"Net(classes: int)", "Linear(784, classes)", "act[B, classes]", "Net(classes = 10)"}) {
    const std::string old(place);
    expected = with(expected, old, with(old, "classes", "num"));
  }
  CHECK(renamed(with(text, "Net(classes = 10)", "Net(clas$ses = 10)"), "num") == expected);
  CHECK(renamed("dtj 1;\nbind <da$ta>: string = \"d\";\nconst a = <data>;\n", "dir") == "dtj 1;\nbind <dir>: string = \"d\";\nconst a = <dir>;\n");
}

TEST_CASE("lsp: rename refuses what would change the meaning", "[unit][lsp]") {
  Client client;
  const auto refusal = [&](const std::string& text, const std::string& name) {
    client.open(text);
    return client.at_cursor("textDocument/rename", {{"newName", name}}).value("error", Json({{"message", ""}}))["message"].get<std::string>();
  };
  const std::string text = job(net);
  CHECK(says(refusal(with(text, "y |> head", "y |> $head"), "x"), "another name"));
  CHECK(says(refusal(with(text, "y |> head", "$y |> head"), "let"), "not a name"));
  CHECK(says(refusal(with(text, "y |> head", "$y |> head"), "a b"), "not a name"));
  CHECK(says(refusal(with(text, "sub head = Linear", "sub head = $Linear"), "Dense"), "not declared in this file"));
  CHECK_FALSE(refusal("dtj 1;\nmodule A {\n  param $w: par[3];\n}\nmodule C {\n  sub a = A();\n  fn forward(x: act[3]) { x + a.w }\n}\n", "v").empty());
}

TEST_CASE("lsp: formatting and quick fixes", "[unit][lsp]") {
  Client client;
  client.open("dtj 1;\nconst a=1;\n");
  Json edits = client.request("textDocument/formatting", {{"textDocument", {{"uri", Client::uri}}}, {"options", Json::object()}})["result"];
  REQUIRE(edits.size() == 1);
  CHECK(edits[0]["newText"] == "dtj 1;\nconst a = 1;\n");
  client.open("dtj 1;\nconst a = ;\n");
  CHECK(client.request("textDocument/formatting", {{"textDocument", {{"uri", Client::uri}}}})["result"].empty());

  client.open("dtj 1;\nconst a = 30 min;\n");
  const Json range = client.diagnostics()[0]["range"];
  const Json actions = client.request("textDocument/codeAction", {{"textDocument", {{"uri", Client::uri}}}, {"range", range}, {"context", Json::object()}})["result"];
  REQUIRE(actions.size() == 1);
  CHECK(actions[0]["isPreferred"] == true);
  CHECK(client.apply(actions[0]["edit"]) == "dtj 1;\nconst a = 30min;\n");
}

TEST_CASE("lsp: references and outline", "[unit][lsp]") {
  Client client;
  const std::string text = job(net);
  client.open(with(text, "sub head", "sub $head"));
  CHECK(client.at_cursor("textDocument/references", {{"context", {{"includeDeclaration", true}}}})["result"].size() == 2);
  CHECK(client.at_cursor("textDocument/references", {{"context", {{"includeDeclaration", false}}}})["result"].size() == 1);
  const Json outline = client.request("textDocument/documentSymbol", {{"textDocument", {{"uri", Client::uri}}}})["result"];
  std::vector<std::string> names;
  for (const Json& symbol : outline) names.push_back(symbol["name"]);
  for (const char* name : {"Net", "head", "tiny", "train", "objective"}) CHECK(has(names, name));
}

}  // namespace dtj::lsp
