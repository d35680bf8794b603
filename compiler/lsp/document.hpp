#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/lsp/symbols.hpp"
#include "compiler/lsp/text.hpp"
#include "compiler/source/source.hpp"

namespace dtj::lsp {

/// One text, parsed, checked and resolved. File 0 of `sources` is the text itself.
class Document {
 public:
  Document(std::string uri, std::string text);

  const std::string& uri() const { return uri_; }
  const source::SourceFile& file() const { return sources_.file(source::FileId{0}); }
  const source::SourceManager& sources() const { return sources_; }
  const std::vector<diag::Diagnostic>& diagnostics() const { return diagnostics_; }
  const SymbolTable& symbols() const { return symbols_; }
  const ast::File& tree() const { return *tree_; }
  std::size_t num_errors() const { return num_errors_; }
  /// What the checker found the expression to be, in words: one for each shape it was checked with, at most three.
  std::vector<std::string> values_of(source::Range range) const;

 private:
  std::string uri_;
  source::SourceManager sources_;
  std::unique_ptr<ast::File> tree_;
  std::vector<diag::Diagnostic> diagnostics_;
  std::size_t num_errors_ = 0;
  SymbolTable symbols_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> values_;
};

Json diagnostics_json(const Document& document);
/// The answer to a request at a place of the document; null where there is none.
Json hover(const Document& document, std::uint32_t offset);
Json definition(const Document& document, std::uint32_t offset);
Json references(const Document& document, std::uint32_t offset, bool with_declaration);
Json completion(const Document& document, std::uint32_t offset);
Json document_symbols(const Document& document);
/// Edits that make the whole text as `dtjc fmt` would have it.
Json formatting(const Document& document);
/// Fixes of the diagnostics that touch the range.
Json code_actions(const Document& document, std::uint32_t begin, std::uint32_t end);
/// The range of the name that could be renamed.
Json prepare_rename(const Document& document, std::uint32_t offset);

struct Renamed {
  Json edit;            ///< a WorkspaceEdit
  std::string refusal;  ///< or why not
};
Renamed rename(const Document& document, std::uint32_t offset, const std::string& new_name);

}  // namespace dtj::lsp
