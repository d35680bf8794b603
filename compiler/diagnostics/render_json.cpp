#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "compiler/diagnostics/character.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/explain.hpp"
#include "compiler/diagnostics/severity.hpp"

// The shape is rustc's (https://doc.rust-lang.org/rustc/json.html), so that tools that read it read ours.

namespace dtj::diag {
namespace {

using Json = nlohmann::ordered_json;

/// The part of a line that is shown, from which character of the line it begins. All of it, unless the line is very long:
/// thousands of mistakes in one line would repeat it thousands of times.
struct LinePart {
  std::string_view text;
  std::int64_t first_column = 1;
};

LinePart part_of_line(const source::SourceFile& file, std::string_view line, std::size_t marked_from) {
  constexpr std::size_t max_bytes = 240, bytes_before = 60;
  if (line.size() <= max_bytes) return {line};
  const auto is_inside_character = [&](std::size_t at) {
    return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U;
  };
  std::size_t begin = marked_from - std::min(marked_from, bytes_before);
  while (is_inside_character(begin)) ++begin;
  std::size_t end = std::min(line.size(), begin + max_bytes);
  while (end > begin && is_inside_character(end)) --end;
  const auto offset = static_cast<std::uint32_t>(line.data() - file.text().data()) + static_cast<std::uint32_t>(begin);
  return {line.substr(begin, end - begin), character_position(file, offset).column};
}

/// The source lines of a span, with what is marked in each; a long span is cut, for it says no more. None of a file that
/// may hold secrets.
Json span_lines(const source::SourceFile& file, source::Range range, const CharacterPosition& begin,
                const CharacterPosition& end) {
  constexpr std::int64_t max_lines = 10;
  Json lines = Json::array();
  if (file.privacy() == source::Privacy::secret) return lines;
  for (std::int64_t number = begin.line; number <= std::min(end.line, begin.line + max_lines - 1); ++number) {
    const std::string_view line = file.line(static_cast<std::int32_t>(number));
    const auto line_begin = static_cast<std::size_t>(line.data() - file.text().data());
    const LinePart part = part_of_line(file, line, number == begin.line ? range.begin - line_begin : 0);
    const auto part_end = static_cast<std::uint32_t>(part.text.data() - file.text().data() + part.text.size());
    const std::int64_t last_shown = character_position(file, part_end).column;
    const std::int64_t first = number == begin.line ? begin.column : 1;
    const std::int64_t last = number == end.line ? std::min(end.column, last_shown) : last_shown;
    lines.push_back({{"text", std::string(part.text)},
                     {"highlight_start", first - part.first_column + 1},
                     {"highlight_end", last - part.first_column + 1}});
  }
  return lines;
}

struct SpanText {
  Json label = nullptr;
  Json replacement = nullptr;
  Json applicability = nullptr;
};

Json span(source::Range range, bool is_primary, SpanText text, const source::SourceManager& sources) {
  const source::SourceFile& file = sources.file(range.file);
  const CharacterPosition begin = character_position(file, range.begin);
  const CharacterPosition end = character_position(file, range.end);
  Json object;
  object["file_name"] = file.name();
  object["byte_start"] = range.begin;
  object["byte_end"] = range.end;
  object["line_start"] = begin.line;
  object["line_end"] = end.line;
  object["column_start"] = begin.column;
  object["column_end"] = end.column;
  object["is_primary"] = is_primary;
  object["text"] = span_lines(file, range, begin, end);
  object["label"] = std::move(text.label);
  object["suggested_replacement"] = std::move(text.replacement);
  object["suggestion_applicability"] = std::move(text.applicability);
  object["expansion"] = nullptr;
  return object;
}

Json child(std::string_view level, const std::string& message) {
  Json object;
  object["message"] = message;
  object["code"] = nullptr;
  object["level"] = level;
  object["spans"] = Json::array();
  object["children"] = Json::array();
  object["rendered"] = nullptr;
  return object;
}

/// Notes, then helps; the fixes hang on the last help.
Json children(const Diagnostic& diagnostic, const source::SourceManager& sources) {
  Json list = Json::array();
  for (const std::string& note : diagnostic.notes) list.push_back(child("note", note));
  for (const std::string& help : diagnostic.helps) list.push_back(child("help", help));
  if (diagnostic.fixes.empty()) return list;
  if (diagnostic.helps.empty()) list.push_back(child("help", "write this instead"));
  for (const Fix& fix : diagnostic.fixes) {
    SpanText text;
    text.replacement = fix.text;
    text.applicability = to_string(fix.applicability);
    list.back()["spans"].push_back(span(fix.range, true, std::move(text), sources));
  }
  return list;
}

Json to_json(const Diagnostic& diagnostic, const source::SourceManager& sources) {
  const KindInfo& kind = info(diagnostic.kind);
  const Explanation* explanation = find_explanation(kind.code);
  Json object;
  object["$message_type"] = "diagnostic";
  object["message"] = diagnostic.message;
  object["code"] = {{"code", kind.code},
                    {"explanation", explanation == nullptr ? Json() : Json(render_explanation(*explanation))}};
  object["level"] = to_string(kind.severity);
  object["spans"] = Json::array();
  if (!diagnostic.range.is_none) {
    SpanText text;
    if (!diagnostic.range_label.empty()) text.label = diagnostic.range_label;
    object["spans"].push_back(span(diagnostic.range, true, std::move(text), sources));
  }
  for (const Label& label : diagnostic.labels) {
    if (label.range.is_none) continue;
    SpanText text;
    text.label = label.text;
    object["spans"].push_back(span(label.range, false, std::move(text), sources));
  }
  object["children"] = children(diagnostic, sources);
  // What the findings of the lint have too, so that one reader takes both.
  if (!diagnostic.range.is_none) {
    const Json main = object["spans"][0];
    object["file"] = main["file_name"];
    object["line"] = main["line_start"];
    object["col"] = main["column_start"];
    object["end_col"] = main["line_end"] == main["line_start"] ? main["column_end"] : main["column_start"];
  } else {
    object["file"] = "";
    for (const char* place : {"line", "col", "end_col"}) object[place] = 0;
  }
  object["kind"] = "job";
  object["rule"] = kind.code;
  object["rendered"] = render_one(diagnostic, sources, {});
  return object;
}

}  // namespace

std::string render_json(const std::vector<Diagnostic>& diagnostics, const source::SourceManager& sources) {
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) {
    // A message may quote bytes of the job that are not UTF-8.
    lines += to_json(diagnostic, sources).dump(-1, ' ', false, Json::error_handler_t::replace);
    lines += '\n';
  }
  return lines;
}

}  // namespace dtj::diag
