#pragma once

#include <optional>
#include <string>

namespace dtjc {

/// The bytes of a regular file; none: it cannot be read.
std::optional<std::string> read_file(const std::string& path);
/// All of standard input.
std::string read_stdin();

/// Puts `text` in place of the file in one step and keeps its mode; a reader sees the old bytes or the new ones. A link
/// stays a link. An answer is what went wrong, and then the file is as it was.
std::optional<std::string> replace_file(const std::string& path, const std::string& text);

}  // namespace dtjc
