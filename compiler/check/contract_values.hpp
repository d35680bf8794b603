#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compiler/check/evaluator.hpp"
#include "compiler/check/placeholders.hpp"
#include "compiler/check/sections.hpp"

// The launch contract with unbound integers: which values satisfy it.

namespace dtj::check {

/// Tries the values of the unbound integers that the sections launch, mesh and data name. Notes those that satisfy the
/// contract and what excludes the rest (N902), or reports that none does (E103). The first that does is given back, as
/// what the rest of the job can be checked with; empty: there are no such integers, or no such values.
std::map<std::string, std::int64_t> find_contract_values(const JobSections& sections, const Placeholders& placeholders,
                                                         const ReadContext& context);

}  // namespace dtj::check
