#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// The project's own source files, for tests about the house.

namespace dtj::house {

struct File {
  std::string path;  ///< relative to the project's root
  std::string text;
};

inline std::vector<File> read_tree(const std::vector<std::string>& folders, const std::vector<std::string>& extensions) {
  const std::filesystem::path root = DTJ_SOURCE_DIR;
  std::vector<File> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string extension = entry.path().extension().string();
      bool wanted = false;
      for (const std::string& e : extensions) wanted = wanted || e == extension;
      if (!wanted) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      files.push_back({std::filesystem::relative(entry.path(), root).string(), text.str()});
    }
  }
  return files;
}

}  // namespace dtj::house
