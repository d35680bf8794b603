#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace dtj::lsp {

/// The body of the next message: what follows its `Content-Length` header. None: the stream has ended, or its framing is
/// lost. A header without a usable length is skipped.
std::optional<std::string> read_message(std::istream& in);
void write_message(std::ostream& out, const std::string& body);

}  // namespace dtj::lsp
