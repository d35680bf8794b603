#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/severity.hpp"
#include "compiler/diagnostics/snippet.hpp"

namespace dtj::diag {
namespace {

/// ANSI sequences, or nothing.
class Palette {
 public:
  explicit Palette(bool is_on) : is_on_(is_on) {}
  std::string paint(std::string_view code, std::string_view text) const {
    if (!is_on_ || text.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }
  std::string frame(std::string_view text) const { return paint("1;34", text); }
  std::string bold(std::string_view text) const { return paint("1", text); }
  static std::string_view code_of(Severity severity) {
    switch (severity) {
      case Severity::error: return "1;31";
      case Severity::warning: return "1;33";
      case Severity::note: return "1;36";
    }
    return "1;31";
  }

 private:
  bool is_on_;
};

/// A range with its text, placed in its file.
struct Annotation {
  const source::SourceFile* file = nullptr;
  std::int32_t line = 1;
  Mark mark;
};

Annotation annotate(source::Range range, std::string text, bool is_primary, const source::SourceManager& sources) {
  const source::SourceFile& file = sources.file(range.file);
  const source::Position begin = file.position(range.begin);
  const source::Position end = file.position(range.end);
  const std::string_view line = file.line(begin.line);
  Mark mark;
  mark.begin = static_cast<std::size_t>(begin.column - 1);
  // A range over several lines is shown by its first one.
  mark.end = end.line == begin.line ? static_cast<std::size_t>(end.column - 1) : line.find_last_not_of(" \t") + 1;
  mark.is_primary = is_primary;
  mark.text = std::move(text);
  return {&file, begin.line, std::move(mark)};
}

using Lines = std::map<std::int32_t, std::vector<Mark>>;

/// The frames of one diagnostic: the file of the primary range first.
struct Frames {
  std::vector<std::pair<const source::SourceFile*, Lines>> files;
  std::size_t gutter = 2;  ///< columns for the line number
};

Frames gather_frames(const Diagnostic& diagnostic, const source::SourceManager& sources) {
  std::vector<Annotation> annotations;
  if (!diagnostic.range.is_none) {
    annotations.push_back(annotate(diagnostic.range, diagnostic.range_label, true, sources));
  }
  for (const Label& label : diagnostic.labels) {
    if (!label.range.is_none) annotations.push_back(annotate(label.range, label.text, false, sources));
  }
  Frames frames;
  for (Annotation& annotation : annotations) {
    auto entry = std::find_if(frames.files.begin(), frames.files.end(),
                              [&](const auto& known) { return known.first == annotation.file; });
    if (entry == frames.files.end()) entry = frames.files.insert(entry, {annotation.file, {}});
    entry->second[annotation.line].push_back(std::move(annotation.mark));
    frames.gutter = std::max(frames.gutter, std::to_string(annotation.line).size());
  }
  return frames;
}

void draw_lines(const source::SourceFile& file, const Lines& lines, std::size_t gutter, std::string_view colour,
                const Palette& palette, std::string& out) {
  for (const auto& [number, marks] : lines) {
    std::string left = fmt::format("{:>{}} |", number, gutter);
    for (const Row& row : draw_snippet(file.line(number), marks)) {
      std::string text;
      for (const Piece& piece : row) {
        switch (piece.style) {
          case Piece::Style::plain: text += piece.text; break;
          case Piece::Style::primary: text += palette.paint(colour, piece.text); break;
          case Piece::Style::secondary: text += palette.frame(piece.text); break;
        }
      }
      out += palette.frame(left);
      if (!text.empty()) out += " " + text;
      out += '\n';
      left = fmt::format("{:>{}} |", "", gutter);
    }
  }
}

void draw_remark(std::string_view kind, std::string_view text, std::size_t gutter, const Palette& palette,
                 std::string& out) {
  out += fmt::format("{:>{}} {} {}: ", "", gutter, palette.frame("="), palette.bold(kind));
  for (const char c : text) {
    out += c;
    if (c == '\n') out.append(gutter + 6, ' ');
  }
  out += '\n';
}

void draw(const Diagnostic& diagnostic, const source::SourceManager& sources, const Palette& palette,
          std::string& out) {
  const KindInfo& kind = info(diagnostic.kind);
  const std::string_view colour = Palette::code_of(kind.severity);
  out += palette.paint(colour, fmt::format("{}[{}]", to_string(kind.severity), kind.code));
  out += palette.bold(fmt::format(": {}", diagnostic.message)) + '\n';
  const Frames frames = gather_frames(diagnostic, sources);
  bool is_first = true;
  for (const auto& [file, lines] : frames.files) {
    source::Position at{lines.begin()->first, static_cast<std::int32_t>(lines.begin()->second.front().begin) + 1};
    if (is_first && !diagnostic.range.is_none) at = file->position(diagnostic.range.begin);
    const std::string arrow = fmt::format("{:>{}}{}", "", frames.gutter, is_first ? "-->" : ":::");
    out += fmt::format("{} {}:{}:{}\n", palette.frame(arrow), file->name(), at.line, at.column);
    if (file->privacy() == source::Privacy::open) draw_lines(*file, lines, frames.gutter, colour, palette, out);
    is_first = false;
  }
  for (const std::string& note : diagnostic.notes) draw_remark("note", note, frames.gutter, palette, out);
  for (const std::string& help : diagnostic.helps) draw_remark("help", help, frames.gutter, palette, out);
}

std::string count(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace

std::string render_one(const Diagnostic& diagnostic, const source::SourceManager& sources, const RenderOptions& options) {
  std::string out;
  draw(diagnostic, sources, Palette(options.colour), out);
  return out;
}

std::string render_text(const std::vector<Diagnostic>& diagnostics, const source::SourceManager& sources,
                        const RenderOptions& options) {
  const Palette palette(options.colour);
  std::string out;
  std::size_t num_errors = 0;
  std::size_t num_warnings = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    const Severity severity = info(diagnostic.kind).severity;
    if (severity == Severity::warning) ++num_warnings;
    if (severity == Severity::error && ++num_errors > options.max_errors) continue;
    draw(diagnostic, sources, palette, out);
  }
  if (num_errors > options.max_errors) {
    const std::size_t hidden = num_errors - options.max_errors;
    out += fmt::format("and {} more {}\n", hidden, hidden == 1 ? "error" : "errors");
  }
  if (num_errors + num_warnings == 0) return out;
  std::string summary;
  if (num_errors != 0) summary = count(num_errors, "error");
  if (num_warnings != 0) summary += (summary.empty() ? "" : ", ") + count(num_warnings, "warning");
  return out + palette.bold(summary) + '\n';
}

}  // namespace dtj::diag
