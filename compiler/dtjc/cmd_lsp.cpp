#include <cstdint>
#include <iostream>

#include "commands.hpp"
#include "dtj/tools.hpp"

namespace dtjc {

void add_lsp(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("lsp", "serve an editor over stdin and stdout (Language Server Protocol)");
  // Clients of the reference library add it.
  command->add_flag("--stdio", [](std::int64_t) {}, "as it always does");
  command->callback([&code] { code = dtj::serve_editor(std::cin, std::cout); });
}

}  // namespace dtjc
