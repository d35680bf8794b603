#pragma once

#include "tests/support/catch.hpp"

namespace dtj::test {

// Catch2 3 has another name for the matcher of substrings.
#if __has_include(<catch2/catch_all.hpp>)
inline auto contains(const std::string& part) {
  return Catch::Matchers::ContainsSubstring(part);
}
using Catch::Approx;
#else
inline auto contains(const std::string& part) {
  return Catch::Matchers::Contains(part);
}
#endif

}  // namespace dtj::test
