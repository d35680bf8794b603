#include "compiler/check/units.hpp"

#include <fmt/format.h>
#include <gsl/assert>

#include <algorithm>
#include <array>
#include <cmath>

namespace dtj::check {
namespace {

struct UnitRow {
  std::string_view spelling;
  UnitKind kind;
  double factor;  ///< to the base unit of the kind
};

// Within a kind from small to large: spell() takes the largest that leaves a whole number.
constexpr double kibi = 1024.0;
constexpr std::array unit_rows = {
    UnitRow{"ns", UnitKind::time, 1e-9},
    UnitRow{"us", UnitKind::time, 1e-6},
    UnitRow{"ms", UnitKind::time, 1e-3},
    UnitRow{"s", UnitKind::time, 1},
    UnitRow{"min", UnitKind::time, 60},
    UnitRow{"h", UnitKind::time, 3600},
    UnitRow{"d", UnitKind::time, 86400},
    UnitRow{"B", UnitKind::bytes, 1},
    UnitRow{"kB", UnitKind::bytes, 1e3},
    UnitRow{"MB", UnitKind::bytes, 1e6},
    UnitRow{"GB", UnitKind::bytes, 1e9},
    UnitRow{"TB", UnitKind::bytes, 1e12},
    UnitRow{"KiB", UnitKind::bytes, kibi},
    UnitRow{"MiB", UnitKind::bytes, kibi* kibi},
    UnitRow{"GiB", UnitKind::bytes, kibi* kibi* kibi},
    UnitRow{"TiB", UnitKind::bytes, kibi* kibi* kibi* kibi},
    UnitRow{"tok", UnitKind::tok, 1},
    UnitRow{"Ktok", UnitKind::tok, 1e3},
    UnitRow{"Mtok", UnitKind::tok, 1e6},
    UnitRow{"Gtok", UnitKind::tok, 1e9},
    UnitRow{"Ttok", UnitKind::tok, 1e12},
    UnitRow{"step", UnitKind::step, 1},
    UnitRow{"epoch", UnitKind::epoch, 1},
    UnitRow{"sample", UnitKind::sample, 1},
    UnitRow{"%", UnitKind::percent, 0.01},
    UnitRow{"Mbps", UnitKind::bandwidth, 1e6 / 8},
    UnitRow{"Gbps", UnitKind::bandwidth, 1e9 / 8},
    UnitRow{"MBps", UnitKind::bandwidth, 1e6},
    UnitRow{"GBps", UnitKind::bandwidth, 1e9},
    UnitRow{"TBps", UnitKind::bandwidth, 1e12},
};

bool is_whole(double number) { return std::abs(number) < 9e15 && number == std::floor(number); }

std::string join_or(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// A value that would be right, to show how one is written.
std::string example_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::time: return "30min";
    case UnitKind::bytes: return "16GiB";
    case UnitKind::tok: return "64tok";
    case UnitKind::step: return "500step";
    case UnitKind::epoch: return "1epoch";
    case UnitKind::sample: return "128sample";
    case UnitKind::percent: return "10%";
    case UnitKind::bandwidth: return "100Gbps";
  }
  return "";
}

/// The base unit's spelling, for "a bare number was meant in it".
std::string_view base_spelling(UnitKind kind) {
  for (const UnitRow& row : unit_rows)
    if (row.kind == kind && (row.factor == 1 || kind == UnitKind::percent || kind == UnitKind::bandwidth)) return row.spelling;
  return "";
}

}  // namespace

std::optional<Quantity> resolve_unit(double value, std::string_view unit) {
  for (const UnitRow& row : unit_rows)
    if (row.spelling == unit) {
      // 5us is exactly 5e-6: dividing by the inverse rounds once, multiplying by 1e-6 rounds twice.
      const double inverse = std::round(1.0 / row.factor);
      const double amount = row.factor < 1 ? value / inverse : value * row.factor;
      return Quantity{amount, row.kind};
    }
  return std::nullopt;
}

std::vector<std::string> unit_spellings() {
  std::vector<std::string> spellings;
  for (const UnitRow& row : unit_rows) spellings.emplace_back(row.spelling);
  return spellings;
}

std::vector<std::string> unit_spellings(UnitKind kind) {
  std::vector<std::string> spellings;
  for (const UnitRow& row : unit_rows)
    if (row.kind == kind) spellings.emplace_back(row.spelling);
  return spellings;
}

void report_unknown_unit(std::string_view unit, source::Range range, diag::Sink& sink) {
  // Words that people write for a unit this language spells otherwise.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 16> other_words = {{
      {"sec", "s"}, {"secs", "s"}, {"seconds", "s"}, {"minutes", "min"}, {"mins", "min"}, {"m", "min"}, {"hours", "h"}, {"hr", "h"},
      {"days", "d"}, {"tokens", "tok"}, {"toks", "tok"}, {"steps", "step"}, {"epochs", "epoch"}, {"samples", "sample"},
      {"K", "Ktok"}, {"kb", "kB"},
  }};
  std::optional<std::string> near;
  for (const auto& [word, spelling] : other_words)
    if (word == unit) near = spelling;
  if (!near) near = diag::nearest(unit, unit_spellings());
  auto& report = sink.report({diag::Kind::unknown_unit, range, fmt::format("there is no unit `{}`", unit)});
  if (near) {
    report.help(fmt::format("did you mean `{}`?", *near));
    // A plural is written the language's way; any other word is a guess.
    const bool is_plural = unit == *near + "s" || unit == "minutes" || unit == "hours" || unit == "days";
    if (!range.is_none && range.end - range.begin >= unit.size()) {
      const auto begin = range.end - static_cast<std::uint32_t>(unit.size());
      report.fix(source::Range::of(range.file, begin, range.end), *near,
                 is_plural ? diag::Applicability::machine_applicable : diag::Applicability::maybe_incorrect);
    }
  } else
    report.help("units are ns, us, ms, s, min, h, d; B, kB ... TB, KiB ... TiB; tok, Ktok, Mtok, Gtok; step, epoch, sample; %; Gbps, GBps");
}

std::string spell(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  if (digits.size() - first <= 4) return digits;
  for (std::size_t at = digits.size() - 3; at > first && at < digits.size(); at -= 3) digits.insert(at, "_");
  return digits;
}

std::string spell(double number) {
  if (is_whole(number)) return spell(static_cast<std::int64_t>(number));
  return fmt::format("{}", number);
}

std::string spell(Quantity quantity) {
  if (quantity.amount == 0) return "0" + std::string(base_spelling(quantity.kind));
  // 1e-3 is no binary number: multiplying by its inverse is exact where dividing by it is not.
  const auto in_unit = [&](const UnitRow& row) {
    return row.factor < 1 ? quantity.amount * std::round(1.0 / row.factor) : quantity.amount / row.factor;
  };
  const UnitRow* base = nullptr;
  const UnitRow* best = nullptr;
  for (const UnitRow& row : unit_rows) {
    if (row.kind != quantity.kind || (quantity.kind == UnitKind::tok && row.factor > 1)) continue;
    if (base == nullptr || row.factor == 1) base = &row;
    if (is_whole(in_unit(row)) && (best == nullptr || row.factor > best->factor)) best = &row;
  }
  if (best == nullptr) best = base;
  Expects(best != nullptr);
  return spell(in_unit(*best)) + std::string(best->spelling);
}

std::string describe(UnitKind kind) {
  switch (kind) {
    case UnitKind::time: return "a duration";
    case UnitKind::bytes: return "a number of bytes";
    case UnitKind::tok: return "a number of tokens";
    case UnitKind::step: return "a number of steps";
    case UnitKind::epoch: return "a number of epochs";
    case UnitKind::sample: return "a number of samples";
    case UnitKind::percent: return "a percentage";
    case UnitKind::bandwidth: return "a bandwidth";
  }
  return "";
}

std::string list_of(const std::vector<UnitKind>& kinds) {
  std::vector<std::string> words;
  for (UnitKind kind : kinds) words.push_back(kind == UnitKind::time ? "a time unit" : fmt::format("`{}`", base_spelling(kind)));
  return join_or(words);
}

std::optional<Quantity> expect_quantity(const Value& value, const std::vector<UnitKind>& kinds, std::string_view key,
                                        diag::Sink& sink) {
  if (value.is_poison() || value.is_unbound()) return std::nullopt;
  std::vector<std::string> rule_words;
  for (UnitKind kind : kinds) rule_words.push_back(describe(kind));
  const std::string rule = join_or(rule_words);

  if (const auto* quantity = value.as<Quantity>()) {
    if (std::find(kinds.begin(), kinds.end(), quantity->kind) != kinds.end()) return *quantity;
    sink.report({diag::Kind::wrong_unit, value.range, fmt::format("`{}` takes {}, found {}", key, rule, describe(quantity->kind))})
        .help(fmt::format("write it in {}, for example `{} = {}`", list_of(kinds), key, example_of(kinds.front())));
    return std::nullopt;
  }
  const auto* integer = value.as<std::int64_t>();
  const auto* real = value.as<double>();
  if (integer != nullptr || real != nullptr) {
    const double number = integer != nullptr ? static_cast<double>(*integer) : *real;
    auto& report = sink.report({diag::Kind::wrong_unit, value.range, fmt::format("`{}` takes {}, found a number without a unit", key, rule)});
    if (number < 0) {
      report.help(fmt::format("for example `{} = {}`", key, example_of(kinds.front())));
      return std::nullopt;
    }
    std::vector<std::string> spellings;
    for (UnitKind kind : kinds) spellings.push_back(fmt::format("`{}{}`", spell(number), base_spelling(kind)));
    report.help(fmt::format("write {}", join_or(spellings)));
    return std::nullopt;
  }
  sink.report({diag::Kind::wrong_type, value.range, fmt::format("`{}` takes {}, found {}", key, rule, describe(value))})
      .help(fmt::format("for example `{} = {}`", key, example_of(kinds.front())));
  return std::nullopt;
}

Progress to_progress(Quantity quantity) {
  ProgressUnit unit = ProgressUnit::step;
  switch (quantity.kind) {
    case UnitKind::time: unit = ProgressUnit::time; break;
    case UnitKind::step: unit = ProgressUnit::step; break;
    case UnitKind::epoch: unit = ProgressUnit::epoch; break;
    case UnitKind::sample: unit = ProgressUnit::sample; break;
    case UnitKind::tok: unit = ProgressUnit::tok; break;
    case UnitKind::bytes:
    case UnitKind::percent:
    case UnitKind::bandwidth: break;  // expect_quantity has refused these
  }
  return Progress{quantity.amount, unit};
}

}  // namespace dtj::check
