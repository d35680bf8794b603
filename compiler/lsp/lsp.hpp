#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// A server of the Language Server Protocol 3.17: diagnostics as you type, hover, definition, references, completion,
// rename, formatting, quick fixes.

namespace dtj::lsp {

/// The protocol's state without its transport.
class Server {
 public:
  explicit Server(std::string version);
  ~Server();

  /// Takes messages that have arrived, oldest first, and returns what to send. A request that a later message of the batch
  /// cancels is answered as cancelled; of several changes to one text only the last is checked. Never throws.
  std::vector<std::string> handle(const std::vector<std::string>& messages);
  /// After `exit`: 0 if `shutdown` came before, else 1.
  std::optional<int> exit_code() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Serves until `exit` or the end of the input; returns the exit code of the protocol. `in` is read by a thread of its own.
int serve(std::istream& in, std::ostream& out, const std::string& version);

}  // namespace dtj::lsp
