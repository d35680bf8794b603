#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dtj/dtj.hpp"

// What editors, hooks and pipelines need around the language. As in dtj.hpp, nothing throws, exits or prints.

namespace dtj {

struct CodeInfo {
  std::string code;  ///< "E101"
  DiagnosticSeverity severity = DiagnosticSeverity::error;
  std::string summary;
};

/// Every code that a diagnostic can have, in order.
DTJ_API std::vector<CodeInfo> diagnostic_codes();

/// What a code means and why, with an example that fails and one that passes; none: there is no such code.
DTJ_API std::optional<std::string> explain(std::string_view code);

/// One SARIF 2.1.0 document over several compilations.
DTJ_API std::string render_sarif(const std::vector<const Compilation*>& compilations);

struct FixedText {
  std::string text;
  std::size_t num_fixes = 0;
};

/// Applies the fixes that need no judgement, in rounds, as long as each round leaves fewer mistakes than it found.
/// `name` stands for the file in imports and messages.
DTJ_API FixedText apply_fixes(const std::string& name, const std::string& text, const CompileOptions& options);

struct FormatResult {
  std::optional<std::string> text;  ///< none: the source is not well formed
  std::string diagnostics;          ///< then, what is wrong, for a terminal
};

/// The source with the white space that it should have; nothing else changes.
DTJ_API FormatResult format_source(const std::string& name, const std::string& text, bool colour);

/// What differs between two texts, as `diff -u` shows it; "" if nothing does.
DTJ_API std::string unified_diff(const std::string& name, const std::string& before, const std::string& after);

/// A JSON Schema (draft 2020-12) of a job's settings and sections, written as JSON.
DTJ_API std::string sections_schema();

/// Serves an editor by the Language Server Protocol until it says `exit` or `in` ends. Returns the exit code to end with.
DTJ_API int serve_editor(std::istream& in, std::ostream& out);

}  // namespace dtj
