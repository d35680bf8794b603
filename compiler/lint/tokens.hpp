#pragma once

#include <string_view>
#include <vector>

namespace dtj::lint {

/// A word of a command line. Quotes stand between words, so a list of strings in a program reads like a command line too.
struct Token {
  std::string_view text;
  bool ends_command = false;  ///< `;`, `&&`, ` | `, a back tick: what follows is another command
  bool touches_next = false;  ///< only a quote stands between this and the next one: `--partition="x"`
};

std::vector<Token> tokens_of(std::string_view text);

}  // namespace dtj::lint
