#pragma once

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

}  // namespace dtj
