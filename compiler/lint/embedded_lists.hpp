#pragma once

#include <string_view>

namespace dtj::lint {

/// The text of lists.json; defined in a generated file.
std::string_view embedded_lists();

}  // namespace dtj::lint
