#pragma once

#include <string_view>

#include "compiler/lint/scan.hpp"

// What a file is: by its name, by its first bytes, by the words in it.

namespace dtj::lint {

Flavour flavour_of(std::string_view file_name);
/// For a name that says nothing (`.txt`, `.out`, none).
Flavour flavour_of_text(std::string_view text);
/// A list of nodes, one a line.
bool is_hostfile(std::string_view file_name);
/// Some word of a scheduler stands in the text.
bool names_scheduler(std::string_view text);

}  // namespace dtj::lint
