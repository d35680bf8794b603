#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.hpp"
#include "tests/support/catch.hpp"

namespace dtj::test {

/// The graph whose statements are `body`, verified.
inline ir::Graph graph_of(std::string_view body) {
  auto graph = ir::parse("graph \"g\" {\n" + std::string(body) + "}\n");
  INFO((graph ? std::string() : graph.error().to_string()));
  REQUIRE(graph.has_value());
  const auto status = ir::verify(*graph);
  INFO((status ? std::string() : status.error().to_string()));
  REQUIRE(status.has_value());
  return *graph;
}

}  // namespace dtj::test
