#pragma once

#include <string>
#include <vector>

#include "compiler/check/contract.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::check::testing {

/// A place in a file that is never rendered: far from all others, so that the sink keeps every report.
inline source::Range somewhere(std::uint32_t at) { return source::Range::of(source::FileId{0}, at, at + 1); }

template <class T>
Stated<T> stated(T value, std::uint32_t at = 0) {
  return {value, somewhere(at), Presence::known};
}
template <class T>
Stated<T> unknown() {
  return {T{}, somewhere(0), Presence::unknown};
}

inline std::vector<diag::Kind> kinds(const diag::Sink& sink) {
  std::vector<diag::Kind> found;
  for (const diag::Diagnostic& diagnostic : sink.sorted()) found.push_back(diagnostic.kind);
  return found;
}

/// The help of the only report.
inline std::string help_of(const diag::Sink& sink) {
  const auto reports = sink.sorted();
  return reports.size() == 1 && reports[0].helps.size() == 1 ? reports[0].helps[0] : "";
}

}  // namespace dtj::check::testing
