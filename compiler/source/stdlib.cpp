#include <gsl/span>

#include "compiler/source/embedded.hpp"
#include "compiler/source/source.hpp"

namespace dtj::source {

std::optional<std::string_view> find_stdlib(std::string_view module) {
  for (const EmbeddedFile& file : embedded_stdlib()) {
    if (module == file.name) return std::string_view(reinterpret_cast<const char*>(file.text), file.size);
  }
  return std::nullopt;
}

std::vector<std::string_view> stdlib_modules() {
  std::vector<std::string_view> modules;
  for (const EmbeddedFile& file : embedded_stdlib()) modules.emplace_back(file.name);
  return modules;
}

}  // namespace dtj::source
