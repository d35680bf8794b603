#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/source.hpp"

namespace dtj::check {

/// The files that a job file imports, and those that they import: each is read and parsed once, before anything is
/// evaluated, so that all their placeholders are known from the start.
class ImportFiles {
 public:
  /// `folders` may be read beside the folder of `file`; an import is sought beside its importer first, then in them.
  /// Reported at the import: a file that cannot be read or lies outside the folders, a circle of imports.
  ImportFiles(const ast::File& file, source::SourceManager& sources, const std::vector<std::string>& folders, diag::Sink& sink);

  /// The file of `import "x.dtj"`; null: it is reported.
  const ast::File* find(const ast::ImportDecl& import) const;
  /// Without the job file itself; a file comes after those it imports.
  const std::vector<std::unique_ptr<ast::File>>& files() const { return files_; }

 private:
  void read_imports_of(const ast::File& file);
  const ast::File* read(const ast::ImportDecl& import, const ast::File& importer);
  bool is_inside(const std::string& path) const;
  void report_outside(const ast::ImportDecl& import, const std::string& path);

  source::SourceManager& sources_;
  diag::Sink& sink_;
  std::vector<std::string> folders_;  ///< resolved; the first is that of the job file
  std::vector<std::unique_ptr<ast::File>> files_;
  std::map<std::string, const ast::File*> by_path_;
  std::map<const ast::ImportDecl*, const ast::File*> by_import_;
  std::vector<std::pair<std::string, std::string>> reading_;  ///< resolved path and name of the files being read
};

/// The name under which an import of a file is known: its alias, or "base" for "models/base.dtj".
ast::Name import_name(const ast::ImportDecl& import);

}  // namespace dtj::check
