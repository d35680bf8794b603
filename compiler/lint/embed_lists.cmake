# cmake -DOUTPUT=x.cpp -DFILE=lists.json -P embed_lists.cmake
file(READ "${FILE}" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUTPUT}.new" "// Made from lists.json by embed_lists.cmake.
#include \"compiler/lint/embedded_lists.hpp\"

namespace dtj::lint {
namespace {
constexpr unsigned char text[] = {
${bytes}0};
}  // namespace

std::string_view embedded_lists() { return {reinterpret_cast<const char*>(text), sizeof(text) - 1}; }

}  // namespace dtj::lint
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
