#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.hpp"

// Which files are looked at, and Git's part in it.

namespace dtj::lint {

/// Files stay; a folder becomes its files, in order: without what Git ignores in a work tree, without hidden folders
/// elsewhere. A path that does not exist is a not_found.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths);

/// Runs git and returns what it prints. `arguments` without the word git.
Result<std::string> run_git(const std::vector<std::string>& arguments);
/// Files of the index that differ from HEAD, relative to the current folder.
Result<std::vector<std::string>> staged_files();
/// The content of a file in the index.
Result<std::string> staged_text(const std::string& file);

struct AddedLines {
  std::string file;
  std::set<std::uint32_t> lines;
};
/// What the work tree adds to `base`.
Result<std::vector<AddedLines>> added_lines(const std::string& base);

}  // namespace dtj::lint
