#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/lint/text.hpp"

namespace dtj::lint {

/// A set of lower-case words, asked without a copy of the word.
class WordSet {
 public:
  void insert(std::string word) { words_.insert(std::move(word)); }
  /// Ignores case.
  bool has(std::string_view word) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> words_;
};

/// What is never a leak. Read from lists.json, which the build embeds, at the first use.
struct Lists {
  WordSet partitions, accounts, clusters, hardware, node_bases, reserved_domains, public_hosts, users, system_roots,
      storage_roots, path_words, route_words, top_level_domains, code_domains;
  std::vector<std::string> container_roots;
  std::vector<std::pair<int, int>> ports;  ///< first, last
};

const Lists& lists();

}  // namespace dtj::lint
