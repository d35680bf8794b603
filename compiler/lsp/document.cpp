#include "compiler/lsp/document.hpp"

#include <algorithm>

#include "compiler/check/check.hpp"
#include "compiler/check/value.hpp"
#include "compiler/diagnostics/explain.hpp"
#include "compiler/format/format.hpp"
#include "compiler/parse/parse.hpp"

namespace dtj::lsp {

Document::Document(std::string uri, std::string text) : uri_(std::move(uri)) {
  const source::FileId id = sources_.add(path_of(uri_), std::move(text));
  diag::Sink sink;
  tree_ = parse::parse(sources_.file(id), sink);
  check::CheckOptions options;
  options.on_value = [this](source::Range range, const check::Value& value) {
    constexpr std::size_t max_shapes = 3;
    if (range.is_none || range.file.value != 0 || value.is_poison()) return;
    std::vector<std::string>& known = values_[{range.begin, range.end}];
    if (known.size() >= max_shapes) return;
    std::string text = check::describe(value);
    if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(std::move(text));
  };
  check::check(*tree_, sources_, options, sink);
  diagnostics_ = sink.sorted();
  num_errors_ = sink.num_errors();
  symbols_ = resolve(*tree_, sources_);
}

std::vector<std::string> Document::values_of(source::Range range) const {
  const auto found = values_.find({range.begin, range.end});
  return range.is_none || found == values_.end() ? std::vector<std::string>() : found->second;
}

namespace {

int severity_of(diag::Severity severity) {
  switch (severity) {
    case diag::Severity::error: return 1;
    case diag::Severity::warning: return 2;
    case diag::Severity::note: return 3;
  }
  return 1;
}

bool is_here(source::Range range) { return !range.is_none && range.file.value == 0; }

Json diagnostic_json(const diag::Diagnostic& diagnostic, const Document& document) {
  const diag::KindInfo& kind = diag::info(diagnostic.kind);
  std::string message = diagnostic.message;
  for (const std::string& note : diagnostic.notes) message += "\nnote: " + note;
  for (const std::string& help : diagnostic.helps) message += "\nhelp: " + help;
  const source::Range range = is_here(diagnostic.range) ? diagnostic.range : source::Range::of(source::FileId{0}, 0, 0);
  Json object = {{"range", range_of(range, document.file())},
                 {"severity", severity_of(kind.severity)},
                 {"code", kind.code},
                 {"source", "dtjc"},
                 {"message", message}};
  Json related = Json::array();
  for (const diag::Label& label : diagnostic.labels) {
    if (!is_here(label.range)) continue;
    related.push_back({{"location", {{"uri", document.uri()}, {"range", range_of(label.range, document.file())}}},
                       {"message", label.text}});
  }
  if (!related.empty()) object["relatedInformation"] = std::move(related);
  return object;
}

}  // namespace

Json diagnostics_json(const Document& document) {
  Json list = Json::array();
  for (const diag::Diagnostic& diagnostic : document.diagnostics()) list.push_back(diagnostic_json(diagnostic, document));
  return list;
}

Json formatting(const Document& document) {
  diag::Sink sink;
  const auto text = format::format(document.file(), sink);
  if (!text || *text == document.file().text()) return Json::array();
  const auto end = static_cast<std::uint32_t>(document.file().text().size());
  const auto all = source::Range::of(source::FileId{0}, 0, end);
  return Json::array({{{"range", range_of(all, document.file())}, {"newText", *text}}});
}

Json code_actions(const Document& document, std::uint32_t begin, std::uint32_t end) {
  Json actions = Json::array();
  for (const diag::Diagnostic& diagnostic : document.diagnostics()) {
    if (!is_here(diagnostic.range) || diagnostic.range.begin > end || diagnostic.range.end < begin) continue;
    Json edits = Json::array();
    bool is_sure = true;
    for (const diag::Fix& fix : diagnostic.fixes) {
      if (!is_here(fix.range)) continue;
      edits.push_back({{"range", range_of(fix.range, document.file())}, {"newText", fix.text}});
      is_sure = is_sure && fix.applicability == diag::Applicability::machine_applicable;
    }
    if (edits.empty()) continue;
    const std::string title = edits.size() == 1 && !edits[0]["newText"].get<std::string>().empty()
                                  ? "write `" + edits[0]["newText"].get<std::string>() + "`"
                                  : diagnostic.message;
    actions.push_back({{"title", title},
                       {"kind", "quickfix"},
                       {"isPreferred", is_sure},
                       {"diagnostics", Json::array({diagnostic_json(diagnostic, document)})},
                       {"edit", {{"changes", {{document.uri(), edits}}}}}});
  }
  return actions;
}

}  // namespace dtj::lsp
