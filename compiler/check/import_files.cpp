#include "compiler/check/import_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "compiler/parse/parse.hpp"

namespace dtj::check {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// Absolute, with links followed as far as the path exists.
std::string resolve(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path.empty() ? "." : path, error), error);
  std::string text = error ? fs::path(path).lexically_normal().string() : resolved.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

}  // namespace

ast::Name import_name(const ast::ImportDecl& import) {
  if (import.alias) return *import.alias;
  const std::string file = import.file ? *import.file : "";
  const std::string name = file.substr(folder_of(file).size());
  return {name.substr(0, name.find('.')), import.file_range};
}

ImportFiles::ImportFiles(const ast::File& file, source::SourceManager& sources, const std::vector<std::string>& folders, diag::Sink& sink)
    : sources_(sources), sink_(sink) {
  const std::string& name = sources.file(file.id).name();
  folders_.push_back(resolve(folder_of(name)));
  for (const std::string& folder : folders) folders_.push_back(resolve(folder));
  reading_.emplace_back(resolve(name), name);
  read_imports_of(file);
}

const ast::File* ImportFiles::find(const ast::ImportDecl& import) const {
  const auto found = by_import_.find(&import);
  return found == by_import_.end() ? nullptr : found->second;
}

void ImportFiles::read_imports_of(const ast::File& file) {
  for (const ast::ImportDecl& import : file.imports)
    if (import.file) by_import_[&import] = read(import, file);
}

bool ImportFiles::is_inside(const std::string& path) const {
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
    return folder == "/" || path.rfind(folder + "/", 0) == 0;
  });
}

void ImportFiles::report_outside(const ast::ImportDecl& import, const std::string& path) {
  sink_.report({diag::Kind::import_outside, import.file_range, fmt::format("`{}` lies outside the folders that this job may read", *import.file)})
      .note("imports are read from the folder of the job file, and from those given with `--import-dir`")
      .help(fmt::format("put the file beside the job, or add `--import-dir {}`", fs::path(folder_of(path)).parent_path().string()));
}

const ast::File* ImportFiles::read(const ast::ImportDecl& import, const ast::File& importer) {
  const std::string& wanted = *import.file;
  const bool is_absolute = wanted.rfind('/', 0) == 0;
  std::string path = is_absolute ? wanted : folder_of(sources_.file(importer.id).name()) + wanted;
  for (std::size_t i = 1; !is_absolute && i < folders_.size() && !exists(path); ++i)
    if (exists(folders_[i] + "/" + wanted)) path = folders_[i] + "/" + wanted;

  const std::string resolved = resolve(path);
  if (!is_inside(resolved)) {
    report_outside(import, path);
    return nullptr;
  }
  const auto open = std::find_if(reading_.begin(), reading_.end(), [&](const auto& file) { return file.first == resolved; });
  if (open != reading_.end()) {
    std::string circle;
    for (auto file = open; file != reading_.end(); ++file) circle += file->second + " -> ";
    sink_.report({diag::Kind::import_cycle, import.file_range, fmt::format("`{}` imports itself", path)})
        .note(circle + path)
        .help("move what both files need into a third one, and import that");
    return nullptr;
  }
  if (const auto known = by_path_.find(resolved); known != by_path_.end()) return known->second;

  const auto id = sources_.load(path);
  if (!id) {
    sink_.report({diag::Kind::cannot_read_file, import.file_range, id.error().message})
        .note("a path is relative to the file that imports it");
    return by_path_[resolved] = nullptr;
  }
  auto file = parse::parse(sources_.file(*id), sink_);
  if (!file) return by_path_[resolved] = nullptr;
  reading_.emplace_back(resolved, path);
  read_imports_of(*file);
  reading_.pop_back();
  files_.push_back(std::move(file));
  return by_path_[resolved] = files_.back().get();
}

}  // namespace dtj::check
