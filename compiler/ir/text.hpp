#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.hpp"

namespace dtj::ir {

/// "f32[4, 8]"
std::string to_string(const Type& type);
std::string_view to_string(Port port);
std::optional<Port> parse_port(std::string_view name);

}  // namespace dtj::ir
