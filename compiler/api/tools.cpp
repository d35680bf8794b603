#include "dtj/tools.hpp"

#include "compiler/api/compilation.hpp"
#include "compiler/api/convert.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/explain.hpp"
#include "compiler/format/format.hpp"
#include "compiler/lsp/lsp.hpp"

namespace dtj {

std::vector<CodeInfo> diagnostic_codes() {
  std::vector<CodeInfo> codes;
  for (std::size_t i = 0; i < diag::num_kinds(); ++i) {
    const diag::KindInfo& kind = diag::info(static_cast<diag::Kind>(i));
    codes.push_back({std::string(kind.code), api::severity_of(kind.severity), std::string(kind.summary)});
  }
  return codes;
}

std::optional<std::string> explain(std::string_view code) {
  const diag::Explanation* explanation = diag::find_explanation(code);
  if (explanation == nullptr) return std::nullopt;
  return diag::render_explanation(*explanation);
}

std::string render_sarif(const std::vector<const Compilation*>& compilations) {
  std::vector<diag::Report> reports;
  std::vector<std::string> failures;
  for (const Compilation* compilation : compilations) {
    const Compilation::Impl& impl = compilation->impl();
    if (impl.failure) {
      failures.push_back(impl.failure->to_string());
    } else {
      reports.push_back({&impl.sorted, impl.compiled.sources.get()});
    }
  }
  return diag::render_sarif(reports, version(), failures);
}

FormatResult format_source(const std::string& name, const std::string& text, bool colour) {
  source::SourceManager sources;
  diag::Sink sink;
  FormatResult result;
  result.text = format::format(sources.file(sources.add(name, text)), sink);
  diag::RenderOptions options;
  options.colour = colour;
  if (!result.text) result.diagnostics = diag::render_text(sink.sorted(), sources, options);
  return result;
}

std::string unified_diff(const std::string& name, const std::string& before, const std::string& after) {
  return format::unified_diff(name, before, after);
}

int serve_editor(std::istream& in, std::ostream& out) { return lsp::serve(in, out, std::string(version())); }

}  // namespace dtj
