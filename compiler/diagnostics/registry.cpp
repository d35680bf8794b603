#include <gsl/gsl>
#include <iterator>

#include "compiler/diagnostics/diagnostics.hpp"

namespace dtj::diag {
namespace {

constexpr KindInfo kinds[] = {
#define DTJ_DIAGNOSTIC(name, code, severity, summary) {#name, code, Severity::severity, summary},
#include "compiler/diagnostics/diagnostics.def"
#undef DTJ_DIAGNOSTIC
};

}  // namespace

const KindInfo& info(Kind kind) {
  const auto index = static_cast<std::size_t>(kind);
  Expects(index < std::size(kinds));
  return kinds[index];
}

std::string_view to_string(Applicability applicability) {
  switch (applicability) {
    case Applicability::machine_applicable: return "MachineApplicable";
    case Applicability::maybe_incorrect: return "MaybeIncorrect";
  }
  return "Unspecified";
}

std::size_t num_kinds() { return std::size(kinds); }

}  // namespace dtj::diag
