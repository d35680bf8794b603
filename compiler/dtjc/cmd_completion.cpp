#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "dtj/tools.hpp"

// The scripts are made from the command line's own description, so they know what it knows.

namespace dtjc {

namespace {

struct OptionInfo {
  std::vector<std::string> names;  ///< "--bind", "-o"
  std::vector<std::string> words;  ///< its values, if they are few
  std::string help;
  bool takes_value = false;
};

struct CommandInfo {
  std::string name, help;
  std::vector<OptionInfo> options;
  std::vector<std::string> words;  ///< what an argument can be; none: files
};

/// The words of a type such as "ENUM:value in {json->1,text->0} OR {1,0}".
std::vector<std::string> words_of(const std::string& type) {
  std::vector<std::string> words;
  const auto open = type.find('{');
  if (open == std::string::npos) return words;
  std::string list = type.substr(open + 1, type.find('}', open) - open - 1);
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const std::string entry = list.substr(0, comma);
    words.push_back(entry.substr(0, entry.find("->")));
    list.erase(0, comma + 1);
  }
  return words;
}

CommandInfo describe(const CLI::App& command) {
  CommandInfo info{command.get_name(), command.get_description(), {}, {}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      if (const auto words = words_of(option->get_type_name()); !words.empty()) info.words = words;
      continue;
    }
    OptionInfo described;
    for (const std::string& name : option->get_snames()) described.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) described.names.push_back("--" + name);
    described.words = words_of(option->get_type_name());
    described.help = option->get_description();
    described.takes_value = option->get_items_expected_max() > 0;
    info.options.push_back(std::move(described));
  }
  if (info.name == "explain") {
    for (const dtj::CodeInfo& code : dtj::diagnostic_codes()) info.words.push_back(code.code);
  }
  return info;
}

std::vector<CommandInfo> describe_all(const CLI::App& app) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) commands.push_back(describe(*command));
  return commands;
}

std::string join(const std::vector<std::string>& words, const char* separator = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

/// 'text' for a shell; the quotes inside are closed, escaped and opened again.
std::string quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string bash(const std::vector<CommandInfo>& commands) {
  std::string names, cases, values;
  for (const CommandInfo& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string options;
    for (const OptionInfo& option : command.options) {
      options += (options.empty() ? "" : " ") + join(option.names);
      if (!option.words.empty()) values += fmt::format("    {}:{}) words='{}' ;;\n", command.name, join(option.names, ("|" + command.name + ":").c_str()), join(option.words));
    }
    cases += fmt::format("    {}) options='{}'; arguments='{}' ;;\n", command.name, options, join(command.words));
  }
  return fmt::format(R"sh(# bash completion of dtjc: eval "$(dtjc completion bash)"
_dtjc() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  local options='' arguments='' words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case $command in
{}  esac
  case $command:$previous in
{}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [ -n "$arguments" ]; then
    COMPREPLY=($(compgen -W "$arguments" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -X '!*.dtj' -- "$current") $(compgen -d -- "$current"))
  fi
}}
complete -F _dtjc dtjc
)sh",
                     names, cases, values);
}

std::string zsh(const std::vector<CommandInfo>& commands) {
  std::string names, cases;
  for (const CommandInfo& command : commands) {
    names += fmt::format("    {}\n", quote(command.name + ":" + command.help));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const OptionInfo& option : command.options) {
      std::string help;
      for (const char c : option.help) help += c == '[' || c == ']' || c == ':' ? std::string("\\") + c : std::string(1, c);
      const std::string value = !option.takes_value ? "" : ":value:" + (option.words.empty() ? "" : "(" + join(option.words) + ")");
      for (const std::string& name : option.names) cases += " \\\n        " + quote(name + "[" + help + "]" + value);
    }
    cases += " \\\n        " + quote(command.words.empty() ? "*:file:_files -g \"*.dtj\"" : "*:word:(" + join(command.words) + ")");
    cases += "\n      ;;\n";
  }
  return fmt::format(R"sh(#compdef dtjc
# zsh completion of dtjc: eval "$(dtjc completion zsh)"
_dtjc() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
compdef _dtjc dtjc
)sh",
                     names, cases);
}

std::string fish(const std::vector<CommandInfo>& commands) {
  std::string text = "# fish completion of dtjc: dtjc completion fish | source\ncomplete -c dtjc -f\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("complete -c dtjc -n __fish_use_subcommand -a {} -d {}\n", command.name, quote(command.help));
    const std::string condition = quote("__fish_seen_subcommand_from " + command.name);
    for (const OptionInfo& option : command.options) {
      text += fmt::format("complete -c dtjc -n {}", condition);
      for (const std::string& name : option.names) text += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value) text += option.words.empty() ? " -r" : " -x -a " + quote(join(option.words));
      text += " -d " + quote(option.help) + "\n";
    }
    const std::string arguments = command.words.empty() ? "(__fish_complete_suffix .dtj)" : join(command.words);
    text += fmt::format("complete -c dtjc -n {} -k -a {}\n", condition, quote(arguments));
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, int& code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "print a script that completes dtjc's words in a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell, &code] {
    const std::vector<CommandInfo> commands = describe_all(app);
    fmt::print("{}", *shell == "bash" ? bash(commands) : *shell == "zsh" ? zsh(commands) : fish(commands));
    code = exit_ok;
  });
}

}  // namespace dtjc
