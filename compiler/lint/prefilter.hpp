#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/scan.hpp"

// One pass over a line says which recognisers and which line shapes have something to look for in it: all literals that any
// of them needs are searched at once. A bitmap of folded trigrams answers for nearly every byte.

namespace dtj::lint {

class Shapes;

class Prefilter {
 public:
  Prefilter();
  /// Fills `line.triggers`, `line.groups` and the hints.
  void look(Line& line, Hints& hints) const;
  /// As if every literal stood in the line.
  void assume_all(Line& line, Hints& hints) const;

 private:
  struct Atom {
    std::string text;  ///< in lower case
    std::size_t key = 0;  ///< where its rarest trigram stands
    std::uint32_t groups = 0;
    std::vector<std::pair<Collection, std::uint16_t>> shapes;  ///< collection, index
  };
  void add(std::string_view text, std::uint32_t groups);
  void add_shapes(const Shapes& shapes);
  Atom& atom(std::string_view text);
  void index();
  std::uint32_t note(std::string_view text, std::size_t at, std::uint32_t trigram, Hints& hints) const;

  std::vector<Atom> atoms_;
  TrigramSet trigrams_;
  std::vector<std::uint16_t> first_, next_;  ///< atoms by trigram; next_ chains entries of entries_
  std::vector<std::uint16_t> entries_;
};

const Prefilter& prefilter();

}  // namespace dtj::lint
