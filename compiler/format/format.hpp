#pragma once

#include <optional>
#include <string>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/source.hpp"

// `dtjc fmt`. Only white space changes: words, signs and comments stay as they are and where they are, so the tree of
// the result is the tree of the source. Line breaks are the author's; what follows from them (indentation, spaces, blank
// lines, alignment) is ours, and so are breaks in lines that are too long.

namespace dtj::format {

constexpr std::size_t max_width = 120;

/// The file as it should look. None: it is not well formed, and the sink says why.
std::optional<std::string> format(const source::SourceFile& file, diag::Sink& sink);

/// What `format` gives for a well-formed file, without the check that only white space changed.
std::string lay_out(const source::SourceFile& file);

/// Whether two texts have the same words, signs and comments.
bool is_same_but_for_space(const source::SourceFile& a, const source::SourceFile& b);

/// What differs, as `diff -u` shows it; "" if nothing does.
std::string unified_diff(const std::string& name, const std::string& before, const std::string& after);

}  // namespace dtj::format
