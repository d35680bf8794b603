#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "dtj/lint.hpp"
#include "dtj/tools.hpp"

namespace dtjc {

namespace {

int explain(const std::string& code) {
  if (code.empty()) {
    for (const dtj::lint::RuleInfo& rule : dtj::lint::rules()) fmt::print("{}  {}\n", rule.code, rule.summary);
    for (const dtj::CodeInfo& info : dtj::diagnostic_codes()) fmt::print("{}  {}\n", info.code, info.summary);
    return exit_ok;
  }
  if (const auto text = dtj::explain(code)) {
    fmt::print("{}", *text);
    return exit_ok;
  }
  if (const auto text = dtj::lint::explain(code)) {
    fmt::print("{}", *text);
    return exit_ok;
  }
  fmt::print(stderr, "dtjc explain: there is no code `{}`; `dtjc explain` lists all\n", code);
  return exit_usage;
}

}  // namespace

void add_explain(CLI::App& app, int& code) {
  auto wanted = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("explain", "say what the code of a message means, with examples");
  command->add_option("code", *wanted, "such as E101; none: list all codes")->type_name("CODE");
  command->callback([wanted, &code] { code = explain(*wanted); });
}

}  // namespace dtjc
