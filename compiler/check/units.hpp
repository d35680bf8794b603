#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/value.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "engine/base/units.hpp"

namespace dtj::check {

/// `value` in the base unit of `unit`'s kind: ("30", "min") is 1800 s, ("16", "GiB") is 16 * 2^30 bytes. None: no such unit.
std::optional<Quantity> resolve_unit(double value, std::string_view unit);

/// Every spelling that resolve_unit knows, for suggestions.
std::vector<std::string> unit_spellings();
/// Those of one kind.
std::vector<std::string> unit_spellings(UnitKind kind);

/// Reports E302 for a spelling that resolve_unit does not know; `range` covers the whole literal.
void report_unknown_unit(std::string_view unit, source::Range range, diag::Sink& sink);

/// The shortest exact source text of a quantity: "30min", "524_288tok", "0.25epoch".
std::string spell(Quantity quantity);
/// The shortest source text of a number: "524_288", "0.25".
std::string spell(double number);
std::string spell(std::int64_t number);

/// "a duration", "a number of tokens": for messages.
std::string describe(UnitKind kind);
/// "step, epoch or sample"
std::string list_of(const std::vector<UnitKind>& kinds);

/// The quantity of a setting `key` that takes `kinds`. Reports E301 (another kind, or a bare number) or E304 (no
/// quantity at all); silent for Poison and Unbound.
std::optional<Quantity> expect_quantity(const Value& value, const std::vector<UnitKind>& kinds, std::string_view key,
                                        diag::Sink& sink);

/// A quantity of time, steps, epochs, samples or tokens as the engine counts it.
Progress to_progress(Quantity quantity);

}  // namespace dtj::check
