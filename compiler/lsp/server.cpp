#include <condition_variable>
#include <functional>
#include <istream>
#include <map>
#include <mutex>
#include <ostream>
#include <set>
#include <thread>
#include <utility>

#include "compiler/lsp/document.hpp"
#include "compiler/lsp/lsp.hpp"
#include "compiler/lsp/message.hpp"

namespace dtj::lsp {
namespace {

/// Codes of JSON-RPC and of the protocol.
enum class ErrorCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  not_initialized = -32002,
  request_cancelled = -32800,
  request_failed = -32803,
};

/// An answer that is an error; caught where requests are dispatched.
struct Refusal {
  ErrorCode code;
  std::string message;
};

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json capabilities() {
  return {{"textDocumentSync", {{"openClose", true}, {"change", 1}, {"save", false}}},  // whole texts
          {"positionEncoding", "utf-16"},
          {"hoverProvider", true},
          {"definitionProvider", true},
          {"referencesProvider", true},
          {"documentSymbolProvider", true},
          {"documentFormattingProvider", true},
          {"codeActionProvider", {{"codeActionKinds", Json::array({"quickfix"})}}},
          {"renameProvider", {{"prepareProvider", true}}},
          {"completionProvider", {{"triggerCharacters", Json::array({".", "<", "{", "="})}}}};
}

bool is_exit(const std::string& body) {
  if (body.find("exit") == std::string::npos) return false;
  const Json message = Json::parse(body, nullptr, false);
  return message.is_object() && message.contains("method") && message["method"] == "exit";
}

}  // namespace

struct Server::Impl {
  std::string version;
  bool is_initialized = false;
  bool is_shut_down = false;
  std::optional<int> exit_code;
  std::map<std::string, std::unique_ptr<Document>> documents;
  std::map<std::string, std::string> changed;  ///< texts that wait to be checked
  std::set<std::string> cancelled;             ///< ids, as JSON, of the batch at hand
  std::vector<std::string> out;

  // ---- sending
  void reply(const Json& id, Json result) { out.push_back(dump({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}})); }
  void refuse(const Json& id, ErrorCode code, const std::string& message) {
    out.push_back(dump({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", message}}}}));
  }
  void notify(const std::string& method, Json params) {
    out.push_back(dump({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
  }

  // ---- texts
  /// Checks what has changed and tells what is wrong with it.
  void settle() {
    for (auto& [uri, text] : changed) {
      documents[uri] = std::make_unique<Document>(uri, std::move(text));
      notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", diagnostics_json(*documents[uri])}});
    }
    changed.clear();
  }
  const Document& document(const Json& params) {
    settle();
    const std::string uri = params.at("textDocument").at("uri");
    const auto found = documents.find(uri);
    if (found == documents.end()) throw Refusal{ErrorCode::invalid_params, "the text `" + uri + "` is not open"};
    return *found->second;
  }
  static std::uint32_t offset(const Document& document, const Json& position) {
    return offset_of(document.file(), position.at("line").get<std::int64_t>(), position.at("character").get<std::int64_t>());
  }

  // ---- requests
  Json answer(const std::string& method, const Json& params) {
    using Place = Json (*)(const Document&, std::uint32_t);
    static const std::map<std::string, Place> places = {{"textDocument/hover", hover},
                                                        {"textDocument/definition", definition},
                                                        {"textDocument/completion", completion},
                                                        {"textDocument/prepareRename", prepare_rename}};
    if (const auto place = places.find(method); place != places.end()) {
      const Document& text = document(params);
      return place->second(text, offset(text, params.at("position")));
    }
    if (method == "textDocument/formatting") return formatting(document(params));
    if (method == "textDocument/documentSymbol") return document_symbols(document(params));
    if (method == "textDocument/references") {
      const Document& text = document(params);
      return references(text, offset(text, params.at("position")), params.at("context").at("includeDeclaration").get<bool>());
    }
    if (method == "textDocument/codeAction") {
      const Document& text = document(params);
      return code_actions(text, offset(text, params.at("range").at("start")), offset(text, params.at("range").at("end")));
    }
    if (method == "textDocument/rename") {
      const Document& text = document(params);
      Renamed renamed = rename(text, offset(text, params.at("position")), params.at("newName"));
      if (!renamed.refusal.empty()) throw Refusal{ErrorCode::request_failed, renamed.refusal};
      return std::move(renamed.edit);
    }
    throw Refusal{ErrorCode::method_not_found, "there is no method `" + method + "`"};
  }

  void request(const Json& id, const std::string& method, const Json& params) {
    if (method == "initialize") {
      is_initialized = true;
      return reply(id, {{"capabilities", capabilities()}, {"serverInfo", {{"name", "dtjc"}, {"version", version}}}});
    }
    if (!is_initialized) return refuse(id, ErrorCode::not_initialized, "`initialize` comes first");
    if (is_shut_down) return refuse(id, ErrorCode::invalid_request, "the server is shut down");
    if (cancelled.count(dump(id)) != 0) return refuse(id, ErrorCode::request_cancelled, "cancelled");
    if (method == "shutdown") {
      is_shut_down = true;
      return reply(id, nullptr);
    }
    try {
      reply(id, answer(method, params));
    } catch (const Refusal& refusal) {
      refuse(id, refusal.code, refusal.message);
    } catch (const Json::exception& error) {
      refuse(id, ErrorCode::invalid_params, error.what());
    } catch (const std::exception& error) {
      refuse(id, ErrorCode::internal_error, error.what());
    }
  }

  // ---- notifications
  void notification(const std::string& method, const Json& params) {
    if (method == "exit") exit_code = is_shut_down ? 0 : 1;
    if (!is_initialized || is_shut_down) return;
    if (method == "textDocument/didOpen") {
      const Json& text = params.at("textDocument");
      changed[text.at("uri").get<std::string>()] = text.at("text").get<std::string>();
    } else if (method == "textDocument/didChange") {
      const Json& changes = params.at("contentChanges");
      if (!changes.is_array() || changes.empty()) return;
      changed[params.at("textDocument").at("uri").get<std::string>()] = changes.back().at("text").get<std::string>();
    } else if (method == "textDocument/didClose") {
      const std::string uri = params.at("textDocument").at("uri");
      changed.erase(uri);
      if (documents.erase(uri) != 0) notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
    }
  }

  void handle(const std::string& body) {
    const Json message = Json::parse(body, nullptr, false);
    if (message.is_discarded()) return refuse(nullptr, ErrorCode::parse_error, "the message is not JSON");
    const bool has_id = message.is_object() && message.contains("id");
    const Json id = has_id ? message["id"] : Json();
    if (!message.is_object() || !message.contains("method") || !message["method"].is_string()) {
      const bool is_response = has_id && (message.contains("result") || message.contains("error"));
      if (!is_response) refuse(id, ErrorCode::invalid_request, "the message is neither a request nor a notification");
      return;
    }
    const std::string method = message["method"];
    const Json params = message.contains("params") ? message["params"] : Json::object();
    if (has_id) return request(id, method, params);
    try {
      notification(method, params);
    } catch (const std::exception&) {
      // A notification has no answer; what it meant cannot be known.
    }
  }

  void note_cancelled(const std::vector<std::string>& messages) {
    cancelled.clear();
    for (const std::string& body : messages) {
      if (body.find("$/cancelRequest") == std::string::npos) continue;
      const Json message = Json::parse(body, nullptr, false);
      const bool is_cancel = message.is_object() && message.value("method", Json()) == "$/cancelRequest" && message.contains("params") &&
                             message["params"].is_object() && message["params"].contains("id");
      if (is_cancel) cancelled.insert(dump(message["params"]["id"]));
    }
  }
};

Server::Server(std::string version) : impl_(std::make_unique<Impl>()) { impl_->version = std::move(version); }
Server::~Server() = default;

std::vector<std::string> Server::handle(const std::vector<std::string>& messages) {
  impl_->note_cancelled(messages);
  for (const std::string& message : messages) {
    impl_->handle(message);
    if (impl_->exit_code) break;
  }
  impl_->settle();
  return std::exchange(impl_->out, {});
}

std::optional<int> Server::exit_code() const { return impl_->exit_code; }

int serve(std::istream& in, std::ostream& out, const std::string& version) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::string> inbox;
  bool has_ended = false;
  bool is_done = false;
  std::thread reader([&] {
    while (true) {
      auto message = read_message(in);
      const std::lock_guard lock(mutex);
      if (message) {
        // After `exit` nothing follows, and a read would wait for a client that is gone.
        is_done = is_exit(*message);
        inbox.push_back(std::move(*message));
      } else {
        has_ended = true;
      }
      arrived.notify_one();
      if (has_ended || is_done) return;
    }
  });
  Server server(version);
  while (!server.exit_code()) {
    std::vector<std::string> messages;
    {
      std::unique_lock lock(mutex);
      arrived.wait(lock, [&] { return !inbox.empty() || has_ended || is_done; });
      if (inbox.empty()) break;
      messages.swap(inbox);
    }
    for (const std::string& answer : server.handle(messages)) write_message(out, answer);
  }
  reader.join();
  return server.exit_code().value_or(1);
}

}  // namespace dtj::lsp
