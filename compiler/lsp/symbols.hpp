#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/source/source.hpp"

namespace dtj::lsp {

enum class SymbolKind : std::uint8_t {
  module, function, record, enumeration, constant, job, placeholder, parameter, variable, dim, member, library, data, primitive
};

/// Something that has a name.
struct Symbol {
  SymbolKind kind = SymbolKind::variable;
  std::string name;
  source::Range declaration;  ///< of the name; none for primitives
  source::Range whole;        ///< of the declaration, for its text
  source::Range value;        ///< of the expression that gives its value, where there is one
  std::vector<std::string> parameters;  ///< of what can be called
};

/// A name in the text and what it stands for.
struct Use {
  source::Range range;
  std::size_t symbol = 0;
  source::Range result;  ///< of the call or pipe that the name is the function of
  bool is_declaration = false;
};

/// Where a set of names is known.
struct NameScope {
  source::Range range;  ///< none: everywhere
  std::vector<std::size_t> symbols;
};

/// All names of a file, resolved without evaluating anything, so that it works on unfinished text too.
struct SymbolTable {
  std::vector<Symbol> symbols;
  std::vector<Use> uses;
  std::vector<NameScope> scopes;

  /// The narrowest use that touches the byte.
  const Use* find(std::uint32_t offset) const;
  /// Names known at a byte, inner ones first, each once.
  std::vector<const Symbol*> visible(std::uint32_t offset) const;
  /// The names of a library module that an import or a `name.` may go on with.
  std::vector<const Symbol*> members_of(std::string_view library) const;
  /// By module name: indices of its declarations.
  std::vector<std::pair<std::string, std::vector<std::size_t>>> libraries;
};

/// Library files that are imported are added to `sources`.
SymbolTable resolve(const ast::File& file, source::SourceManager& sources);

}  // namespace dtj::lsp
