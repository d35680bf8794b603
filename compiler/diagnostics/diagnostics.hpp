#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/source/source.hpp"

namespace dtj::diag {

enum class Severity : std::uint8_t { error, warning, note };

/// Every diagnostic kind, from the registry diagnostics.def: DTJ_DIAGNOSTIC(name, code, severity, summary).
enum class Kind : std::uint16_t {
#define DTJ_DIAGNOSTIC(name, code, severity, summary) name,
#include "compiler/diagnostics/diagnostics.def"
#undef DTJ_DIAGNOSTIC
};

struct KindInfo {
  std::string_view name;
  std::string_view code;  ///< "E101"
  Severity severity;
  std::string_view summary;
};

const KindInfo& info(Kind kind);
std::size_t num_kinds();

/// A secondary range with a short text: "4 * 8 * 1 = 32 ranks".
struct Label {
  source::Range range;
  std::string text;
};

/// Whether a fix may be applied without asking. machine_applicable: it says what the author meant; maybe_incorrect: it
/// makes the text sound, and may say something else.
enum class Applicability : std::uint8_t { machine_applicable, maybe_incorrect };
std::string_view to_string(Applicability applicability);  ///< "MachineApplicable", as in rustc's JSON

/// Replace the bytes of `range` by `text`. All fixes of one diagnostic belong together.
struct Fix {
  source::Range range;
  std::string text;
  Applicability applicability = Applicability::machine_applicable;
};

/// Plain data. `message` is lower-case, has no full stop, code in backticks. `range` is the narrowest.
struct Diagnostic {
  Kind kind;
  std::string message;
  source::Range range;
  std::string range_label;  ///< text under the caret; may be empty
  std::vector<Label> labels;
  std::vector<std::string> notes;
  std::vector<std::string> helps;
  std::vector<Fix> fixes;

  Diagnostic(Kind k, source::Range r, std::string m);
  Diagnostic& under(std::string text);
  Diagnostic& label(source::Range r, std::string text);
  Diagnostic& note(std::string text);
  Diagnostic& help(std::string text);
  Diagnostic& fix(source::Range r, std::string text, Applicability applicability = Applicability::machine_applicable);
};

/// Collects. A second diagnostic of the same kind at the same range is dropped (one message per cause).
class Sink {
 public:
  /// The reference is valid until the next report: `sink.report({...}).help("...")` works.
  Diagnostic& report(Diagnostic diagnostic);
  bool has_errors() const;
  std::size_t num_errors() const;
  /// In order of file and position.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::vector<Diagnostic> dropped_;
  /// kind, is_none, file, begin, end, and the message where there is no range
  std::set<std::tuple<Kind, bool, std::uint32_t, std::uint32_t, std::uint32_t, std::string>> seen_;
};

struct RenderOptions {
  bool colour = false;
  std::size_t max_errors = 20;  ///< then "and N more errors"
};

/// The caret form: error[E101]: message / --> file:line:col / source line / carets / = help.
std::string render_text(const std::vector<Diagnostic>& diagnostics, const source::SourceManager& sources,
                        const RenderOptions& options);
/// One diagnostic in the caret form.
std::string render_one(const Diagnostic& diagnostic, const source::SourceManager& sources, const RenderOptions& options);
/// One JSON object a line, in the shape of rustc's: message, code {code, explanation}, level, spans, children, rendered.
std::string render_json(const std::vector<Diagnostic>& diagnostics, const source::SourceManager& sources);

/// The diagnostics of one compilation, for a report over several.
struct Report {
  const std::vector<Diagnostic>* diagnostics;
  const source::SourceManager* sources;
};
/// One SARIF 2.1.0 document. `failures`: what kept the tool itself from doing its work.
std::string render_sarif(const std::vector<Report>& reports, std::string_view tool_version,
                         const std::vector<std::string>& failures);

/// The candidate nearest to `name` by edit distance, if near enough to be a likely typing mistake.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace dtj::diag
