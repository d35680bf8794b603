#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/lsp/lsp.hpp"
#include "tests/support/catch.hpp"

namespace dtj::lsp {

/// A scripted client. A `$` in a text is the cursor; it is taken out before the text is sent.
class Client {
 public:
  using Json = nlohmann::json;

  Client() {
    request("initialize", {{"capabilities", Json::object()}});
    notify("initialized", Json::object());
  }

  Json request(const std::string& method, Json params) {
    const int id = ++last_id_;
    for (const Json& message : send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}})) {
      if (message.contains("id") && message["id"] == id) return message;
    }
    FAIL("no answer to " << method);
    return {};
  }
  void notify(const std::string& method, Json params) { send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}); }

  /// Opens or changes the one text; the cursor is where its `$` was.
  void open(std::string text) {
    cursor_ = {{"line", 0}, {"character", 0}};
    if (const auto at = text.find('$'); at != std::string::npos) {
      text.erase(at, 1);
      const auto line_begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
      cursor_ = {{"line", std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')},
                 {"character", at - (line_begin == std::string::npos ? 0 : line_begin + 1)}};
    }
    text_ = text;
    notify("textDocument/didOpen", {{"textDocument", {{"uri", uri}, {"languageId", "dtj"}, {"version", 1}, {"text", text}}}});
  }
  Json at_cursor(const std::string& method, Json more = Json::object()) {
    more["textDocument"] = {{"uri", uri}};
    more["position"] = cursor_;
    return request(method, std::move(more));
  }
  std::string hover(const std::string& text) {
    open(text);
    const Json result = at_cursor("textDocument/hover")["result"];
    return result.is_null() ? std::string() : result["contents"]["value"].get<std::string>();
  }
  std::vector<std::string> complete(const std::string& text) {
    open(text);
    const Json answer = at_cursor("textDocument/completion");
    std::vector<std::string> labels;
    for (const Json& item : answer["result"]["items"]) labels.push_back(item["label"]);
    return labels;
  }
  const Json& diagnostics() const { return diagnostics_; }
  const std::string& text() const { return text_; }

  /// The text after the edits of a WorkspaceEdit.
  std::string apply(const Json& edit) const {
    Json edits = edit["changes"][uri];
    std::sort(edits.begin(), edits.end(), [](const Json& a, const Json& b) { return offset(a) > offset(b); });
    std::string text = text_;
    for (const Json& each : edits) {
      const std::size_t begin = index(each["range"]["start"]), end = index(each["range"]["end"]);
      text.replace(begin, end - begin, each["newText"].get<std::string>());
    }
    return text;
  }

  std::vector<Json> send(const Json& message) { return receive(server_.handle({message.dump()})); }
  std::vector<Json> receive(const std::vector<std::string>& answers) {
    std::vector<Json> messages;
    for (const std::string& answer : answers) {
      messages.push_back(Json::parse(answer));
      if (messages.back().value("method", "") == "textDocument/publishDiagnostics") diagnostics_ = messages.back()["params"]["diagnostics"];
    }
    return messages;
  }
  Server& server() { return server_; }

  static constexpr const char* uri = "file:///work/job.dtj";

 private:
  static std::pair<int, int> offset(const Json& edit) {
    return {edit["range"]["start"]["line"].get<int>(), edit["range"]["start"]["character"].get<int>()};
  }
  std::size_t index(const Json& position) const {
    std::size_t at = 0;
    for (int line = position["line"]; line > 0; --line) at = text_.find('\n', at) + 1;
    return at + position["character"].get<std::size_t>();
  }

  Server server_{"0.0"};
  int last_id_ = 0;
  Json cursor_;
  Json diagnostics_ = Json::array();
  std::string text_;
};

}  // namespace dtj::lsp
