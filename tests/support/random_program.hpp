#pragma once

#include <cstdint>
#include <string>

namespace dtj::test {

/// A well-formed file that uses every rule of the grammar sooner or later. It need not make sense.
std::string random_program(std::uint32_t seed);

}  // namespace dtj::test
