#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/lsp/lsp.hpp"

// A text in an editor: it may be anything, and every request at any place has one answer. The bytes are also a message.

namespace {

using Json = nlohmann::json;

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto message = [](const Json& body) { return body.dump(-1, ' ', false, Json::error_handler_t::replace); };
  dtj::lsp::Server server("fuzz");
  server.handle({message({{"id", 0}, {"method", "initialize"}, {"params", Json::object()}})});
  server.handle({text});
  server.handle({message({{"method", "textDocument/didOpen"}, {"params", {{"textDocument", {{"uri", "file:///a.dtj"}, {"text", text}}}}}})});
  std::size_t hash = size;
  for (const char c : text) hash = hash * 31 + static_cast<unsigned char>(c);
  const Json place = {{"line", hash % 60}, {"character", hash / 60 % 80}};
  const Json document = {{"uri", "file:///a.dtj"}};
  for (const char* method : {"hover", "completion", "prepareRename", "formatting", "documentSymbol", "rename", "references", "codeAction"}) {
    const Json params = {{"textDocument", document},
                         {"position", place},
                         {"newName", "renamed"},
                         {"context", {{"includeDeclaration", true}}},
                         {"range", {{"start", place}, {"end", place}}}};
    const auto answers = server.handle({message({{"id", 1}, {"method", std::string("textDocument/") + method}, {"params", params}})});
    expect(answers.size() == 1);
    const Json answer = Json::parse(answers[0]);
    // Only a rename may be refused.
    expect(answer.contains("result") || (std::string(method) == "rename" && answer["error"]["code"] == -32803));
  }
  return 0;
}
