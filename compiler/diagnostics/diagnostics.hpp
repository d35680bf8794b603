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

/// Replace the bytes of `range` by `text`.
struct Fix {
  source::Range range;
  std::string text;
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
  Diagnostic& fix(source::Range r, std::string text);
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
/// One JSON object a line: {"code","severity","message","file","line","col","end_line","end_col","labels","notes","helps","fixes"}.
std::string render_json(const std::vector<Diagnostic>& diagnostics, const source::SourceManager& sources);

/// The candidate nearest to `name` by edit distance, if near enough to be a likely typing mistake.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace dtj::diag
