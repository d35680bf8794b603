#pragma once

#include <memory>
#include <string>

#include "compiler/parse/parse.hpp"

/// A text, its tree and what was wrong with it.
struct Parsed {
  dtj::source::SourceManager sources;
  dtj::diag::Sink sink;
  std::unique_ptr<dtj::ast::File> file;

  explicit Parsed(std::string text) {
    const auto id = sources.add("a.dtj", std::move(text));
    file = dtj::parse::parse(sources.file(id), sink);
  }
  std::string errors() const { return dtj::diag::render_text(sink.sorted(), sources, {}); }
  std::string printed() const { return dtj::ast::print(*file); }
  template <class Decl>
  const Decl& decl(std::size_t index = 0) const {
    return std::get<Decl>(file->decls.at(index));
  }
};
