# cmake -DOUTPUT=x.cpp -DNAMESPACE=dtj::source -DFUNCTION=embedded_stdlib -DHEADER=compiler/source/embedded.hpp
#       "-DFILES=a.dtj;b.dtj" -P embed.cmake
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
file(WRITE "${OUTPUT}.new" "// Made by embed.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {
using source::EmbeddedFile;
${arrays}
constexpr EmbeddedFile files[] = {
${rows}};
}  // namespace

gsl::span<const source::EmbeddedFile> ${FUNCTION}() { return files; }

}  // namespace ${NAMESPACE}
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
