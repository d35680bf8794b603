#pragma once

#include <memory>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/evaluator.hpp"
#include "compiler/check/import_files.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

// `job a extends b`: settings, constants and functions replace those of the base by name; sections merge by key; a section
// with a label (`data train`) replaces the whole one; another launch method drops the keys that belong to the base's.

namespace dtj::check {

/// A job of the line with the file it stands in.
struct JobInFile {
  const ast::JobDecl* job;
  const ast::File* file;
};

/// The job and those that it extends, the most derived first. Unknown bases and circles are reported, and end the line.
std::vector<JobInFile> find_line(const ast::JobDecl& job, const ast::File& file, const ImportFiles& imports, diag::Sink& sink);

/// A setting and where its value is evaluated.
struct MergedSetting {
  const ast::Setting* setting;
  std::shared_ptr<Scope> scope;
};

/// The written sections of one name that make up one section of the merged job, the most derived first.
struct MergedSection {
  std::vector<const ast::Section*> parts;
  std::vector<MergedSetting> settings;

  const ast::Section& front() const { return *parts.front(); }
};

/// A job as if everything that it inherits were written in it.
struct MergedJob {
  const ast::JobDecl* job;  ///< the most derived
  std::vector<MergedSetting> settings;
  std::vector<MergedSection> sections;
  std::vector<MergedSection> replaced;  ///< sections with a label that an heir states anew, the nearest base first
  const ast::FnDecl* objective = nullptr;
  std::shared_ptr<Scope> objective_scope;
};

/// `scopes` are those of the jobs of the line.
MergedJob merge_jobs(const std::vector<JobInFile>& line, const std::vector<std::shared_ptr<Scope>>& scopes);

}  // namespace dtj::check
