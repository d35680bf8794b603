# cmake -DOUTPUT=x.cpp "-DFILES=a.dtj;b.dtj" -P embed.cmake
# Bytes are written as numbers: string literals have a length limit and need escapes.
set(arrays "")
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "constexpr unsigned char text_of_${name}[] = {\n${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", text_of_${name}, sizeof(text_of_${name}) - 1},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Made from stdlib/*.dtj by embed.cmake.
#include \"compiler/source/embedded.hpp\"

namespace dtj::source {
namespace {
${arrays}
constexpr EmbeddedFile files[] = {
${rows}};
}  // namespace

gsl::span<const EmbeddedFile> embedded_stdlib() { return files; }

}  // namespace dtj::source
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
