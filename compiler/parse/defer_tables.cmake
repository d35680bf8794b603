# cmake "-DFILES=DtjLexer.cpp;DtjParser.cpp" -P defer_tables.cmake
# The generated files decode their tables before main(), in every program that links them. This moves the work into
# the constructors, so that only a program that parses pays for it.
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  set(definition "${name}::Initializer ${name}::_init;")
  set(constructor "_interpreter = new")
  foreach(needle IN ITEMS "${definition}" "${constructor}")
    string(FIND "${text}" "${needle}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${file}: the generated code has no `${needle}`")
    endif()
  endforeach()
  string(REPLACE "${definition}" "" text "${text}")
  string(REPLACE "${constructor}" "static Initializer once;\n  ${constructor}" text "${text}")
  file(WRITE "${file}" "${text}")
endforeach()
