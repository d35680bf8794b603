#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/lint/scan.hpp"

// The option grammar of the schedulers and of the commands around them.

namespace dtj::lint {

/// Every command whose options or arguments mean something.
std::vector<std::string_view> command_words();
/// Whose options follow this word of a command line.
std::optional<Family> family_of_command(std::string_view word);

struct Directive {
  Family family = Family::none;
  std::size_t end = 0;  ///< behind `#SBATCH`
};
/// The first batch directive in the line, commented out or not.
std::optional<Directive> find_directive(std::string_view line);

/// What the value of a short option is; `-p` of Slurm is a partition.
std::optional<Kind> short_option(Family family, char letter);
/// The option takes a value, so the next word is no option and no argument.
bool takes_value(Family family, char letter);
/// What the value of a long option is, without its dashes. Names that mean something else elsewhere need a scheduler.
std::optional<Kind> long_option(Family family, std::string_view name, bool knows_scheduler);

}  // namespace dtj::lint
