#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/check/sections.hpp"

namespace dtj::check {

/// The value of one setting in the form that `Entry` promises; Poison when it does not suit the key, which is reported.
Value read_entry(const ast::Setting& setting, const KeySchema& key, const ReadContext& context);

/// The same for an expression.
Value read_value(const ast::Expr& expr, const KeySchema& key, const ReadContext& context);

/// The arguments of a word that takes some, each read like a setting. Unknown and repeated ones are reported.
std::vector<Entry> read_arguments(const ast::Setting& setting, const KeySchema& key, const ReadContext& context);

/// False after a report: more than `maximum`, or than a plan can count.
bool check_largest(const Quantity& quantity, std::optional<double> maximum, std::string_view key, source::Range range,
                   diag::Sink& sink);

/// Warns of a literal path in a home folder anywhere in an expression.
void warn_of_home_paths(const ast::Expr& expr, diag::Sink& sink);

}  // namespace dtj::check
