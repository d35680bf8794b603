#include <nlohmann/json.hpp>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/severity.hpp"

namespace dtj::diag {
namespace {

using Json = nlohmann::ordered_json;

/// Adds where `range` lies; all fields are null when it lies nowhere.
void put_range(Json& object, source::Range range, const source::SourceManager& sources) {
  if (range.is_none) {
    for (const char* key : {"file", "line", "col", "end_line", "end_col"}) object[key] = nullptr;
    return;
  }
  const source::SourceFile& file = sources.file(range.file);
  const source::Position begin = file.position(range.begin);
  const source::Position end = file.position(range.end);
  object["file"] = file.name();
  object["line"] = begin.line;
  object["col"] = begin.column;
  object["end_line"] = end.line;
  object["end_col"] = end.column;
}

Json to_json(const Diagnostic& diagnostic, const source::SourceManager& sources) {
  const KindInfo& kind = info(diagnostic.kind);
  Json object;
  object["code"] = kind.code;
  object["severity"] = to_string(kind.severity);
  object["message"] = diagnostic.message;
  put_range(object, diagnostic.range, sources);
  object["labels"] = Json::array();
  if (!diagnostic.range_label.empty()) {
    Json label;
    put_range(label, diagnostic.range, sources);
    label["text"] = diagnostic.range_label;
    object["labels"].push_back(std::move(label));
  }
  for (const Label& secondary : diagnostic.labels) {
    Json label;
    put_range(label, secondary.range, sources);
    label["text"] = secondary.text;
    object["labels"].push_back(std::move(label));
  }
  object["notes"] = diagnostic.notes;
  object["helps"] = diagnostic.helps;
  object["fixes"] = Json::array();
  for (const Fix& fix : diagnostic.fixes) {
    Json entry;
    put_range(entry, fix.range, sources);
    entry["text"] = fix.text;
    object["fixes"].push_back(std::move(entry));
  }
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
