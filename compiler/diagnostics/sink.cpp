#include <algorithm>
#include <tuple>

#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::diag {

Diagnostic::Diagnostic(Kind k, source::Range r, std::string m) : kind(k), message(std::move(m)), range(r) {}

Diagnostic& Diagnostic::under(std::string text) {
  range_label = std::move(text);
  return *this;
}

Diagnostic& Diagnostic::label(source::Range r, std::string text) {
  labels.push_back({r, std::move(text)});
  return *this;
}

Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::help(std::string text) {
  helps.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::fix(source::Range r, std::string text, Applicability applicability) {
  // A guess that somebody who knows more repeats is no guess any longer.
  for (Fix& known : fixes) {
    if (!(known.range.file == r.file && known.range.begin == r.begin && known.range.end == r.end) || known.text != text) continue;
    known.applicability = std::min(known.applicability, applicability);
    return *this;
  }
  fixes.push_back({r, std::move(text), applicability});
  return *this;
}

Diagnostic& Sink::report(Diagnostic diagnostic) {
  const source::Range& range = diagnostic.range;
  // Without a range, only the message tells two causes apart.
  const bool is_new = seen_
                          .emplace(diagnostic.kind, range.is_none, range.file.value, range.begin, range.end,
                                   range.is_none ? diagnostic.message : std::string())
                          .second;
  if (is_new) return diagnostics_.emplace_back(std::move(diagnostic));
  dropped_.clear();
  return dropped_.emplace_back(std::move(diagnostic));
}

bool Sink::has_errors() const { return num_errors() != 0; }

std::size_t Sink::num_errors() const {
  return static_cast<std::size_t>(std::count_if(diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& d) {
    return info(d.kind).severity == Severity::error;
  }));
}

std::vector<Diagnostic> Sink::sorted() const {
  std::vector<Diagnostic> result = diagnostics_;
  const auto place = [](const Diagnostic& d) {
    return std::make_tuple(d.range.is_none, d.range.file.value, d.range.begin, d.range.end);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  return result;
}

}  // namespace dtj::diag
