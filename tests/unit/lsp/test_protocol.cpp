#include <sstream>

#include "compiler/lsp/message.hpp"
#include "tests/unit/lsp/client.hpp"

namespace dtj::lsp {
namespace {

using Json = nlohmann::json;

std::string call(int id, const std::string& method, const Json& params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
}
std::string tell(const std::string& method, const Json& params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump();
}
int error_of(const std::vector<std::string>& answers) {
  REQUIRE(answers.size() == 1);
  return Json::parse(answers[0]).at("error").at("code").get<int>();
}

}  // namespace

TEST_CASE("lsp: messages are framed by their length", "[unit][lsp]") {
  std::istringstream in("Content-Length: 2\r\n\r\n{}Content-Type: x\r\ncontent-length:3\r\n\r\nabcContent-Length: nine\r\n\r\nContent-Length: 1\r\n\r\nzContent-Length: 9\r\n\r\ncut");
  CHECK(read_message(in) == std::string("{}"));
  CHECK(read_message(in) == std::string("abc"));
  CHECK(read_message(in) == std::string("z"));
  CHECK_FALSE(read_message(in));
  std::ostringstream out;
  write_message(out, "{}");
  CHECK(out.str() == "Content-Length: 2\r\n\r\n{}");
}

TEST_CASE("lsp: the life of a server", "[unit][lsp]") {
  Server server("1.2");
  CHECK(error_of(server.handle({call(1, "textDocument/hover")})) == -32002);
  const auto answer = Json::parse(server.handle({call(2, "initialize")}).at(0));
  CHECK(answer["result"]["capabilities"]["hoverProvider"] == true);
  CHECK(answer["result"]["serverInfo"]["version"] == "1.2");
  CHECK(server.handle({tell("initialized")}).empty());
  CHECK(Json::parse(server.handle({call(3, "shutdown")}).at(0))["result"].is_null());
  CHECK(error_of(server.handle({call(4, "textDocument/hover")})) == -32600);
  CHECK_FALSE(server.exit_code());
  CHECK(server.handle({tell("exit")}).empty());
  CHECK(server.exit_code() == 0);

  Server hasty("1.2");
  hasty.handle({tell("exit")});
  CHECK(hasty.exit_code() == 1);
}

TEST_CASE("lsp: malformed messages are answered, and the server goes on", "[unit][lsp]") {
  Client client;
  Server& server = client.server();
  CHECK(error_of(server.handle({"{"})) == -32700);
  CHECK(error_of(server.handle({"[]"})) == -32600);
  CHECK(error_of(server.handle({"{\"id\": 1}"})) == -32600);
  CHECK(error_of(server.handle({"{\"id\": 1, \"method\": 7}"})) == -32600);
  CHECK(error_of(server.handle({call(1, "no/such")})) == -32601);
  CHECK(error_of(server.handle({call(1, "textDocument/hover")})) == -32602);
  CHECK(error_of(server.handle({call(1, "textDocument/hover", {{"textDocument", {{"uri", "absent"}}}, {"position", {{"line", 0}, {"character", 0}}}})})) == -32602);
  CHECK(error_of(server.handle({"{\"id\": 1, \"method\": \"textDocument/hover\", \"params\": 3}"})) == -32602);
  CHECK(server.handle({"{\"id\": 1, \"result\": null}"}).empty());
  CHECK(server.handle({tell("textDocument/didOpen")}).empty());
  CHECK(server.handle({tell("textDocument/didChange", {{"contentChanges", 3}})}).empty());
  CHECK(server.handle({tell("no/such")}).empty());
  client.open("dtj 1;\nconst a$ = 1;\n");
  CHECK(client.at_cursor("textDocument/hover").contains("result"));
  CHECK(client.request("textDocument/hover", {{"textDocument", {{"uri", Client::uri}}}, {"position", {{"line", 99}, {"character", 99}}}}).contains("result"));
  CHECK(client.request("textDocument/hover", {{"textDocument", {{"uri", Client::uri}}}, {"position", {{"line", -5}, {"character", -5}}}}).contains("result"));
}

TEST_CASE("lsp: a cancelled request is answered as cancelled", "[unit][lsp]") {
  Client client;
  client.open("dtj 1;\nconst a$ = 1;\n");
  const Json params = {{"textDocument", {{"uri", Client::uri}}}, {"position", {{"line", 1}, {"character", 6}}}};
  const auto answers = client.server().handle({call(50, "textDocument/hover", params), call(51, "textDocument/hover", params), tell("$/cancelRequest", {{"id", 50}})});
  REQUIRE(answers.size() == 2);
  CHECK(Json::parse(answers[0])["error"]["code"] == -32800);
  CHECK(Json::parse(answers[1]).contains("result"));
}

TEST_CASE("lsp: of several changes to a text only the last is checked", "[unit][lsp]") {
  Client client;
  const auto change = [](const std::string& text) {
    return tell("textDocument/didChange", {{"textDocument", {{"uri", Client::uri}, {"version", 2}}}, {"contentChanges", {{{"text", text}}}}});
  };
  client.open("dtj 1;\n");
  const auto answers = client.server().handle({change("dtj 1;\nconst a = b;\n"), change("dtj 1;\nconst a = c;\n")});
  REQUIRE(answers.size() == 1);
  const Json diagnostics = Json::parse(answers[0])["params"]["diagnostics"];
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0]["message"].get<std::string>().find("`c`") != std::string::npos);
}

TEST_CASE("lsp: a closed text has no diagnostics", "[unit][lsp]") {
  Client client;
  client.open("dtj 1;\nconst a = b;\n");
  REQUIRE(client.diagnostics().size() == 1);
  client.receive(client.server().handle({tell("textDocument/didClose", {{"textDocument", {{"uri", Client::uri}}}})}));
  CHECK(client.diagnostics().empty());
  CHECK(client.request("textDocument/hover", {{"textDocument", {{"uri", Client::uri}}}, {"position", {{"line", 0}, {"character", 0}}}}).contains("error"));
}

TEST_CASE("lsp: serves streams until exit or their end", "[unit][lsp]") {
  const auto frame = [](const std::string& body) { return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body; };
  std::istringstream in(frame(call(1, "initialize")) + frame(call(2, "shutdown")) + frame(tell("exit")) + "more");
  std::ostringstream out;
  CHECK(serve(in, out, "0.0") == 0);
  std::istringstream answers(out.str());
  CHECK(Json::parse(*read_message(answers))["id"] == 1);
  CHECK(Json::parse(*read_message(answers))["id"] == 2);
  std::istringstream cut(frame(call(1, "initialize")) + "Content-Length: 100\r\n\r\n{");
  std::ostringstream rest;
  CHECK(serve(cut, rest, "0.0") == 1);
}

}  // namespace dtj::lsp
